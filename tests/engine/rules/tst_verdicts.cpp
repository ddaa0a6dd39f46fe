#include "engine/recipe/knob_defaults.h"
#include "engine/recipe/value_json.h"
#include "engine/rules/check.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

using namespace mantissa;

namespace {

/// A set-up that the real package was run with, and what it did. `cause` and `warns` are the rules that its
/// words belong to, from causes/<topic>.tsv.
struct Row {
    std::string id;
    Setup setup;
    Target target;
    std::string outcome;
    std::string exception;
    std::string cause;
    std::string warns;
    bool ran() const { return outcome == "ok" || outcome == "warning"; }
};

Row readRow(const nlohmann::json& json)
{
    Knobs knobs;
    for (const auto& [name, value] : json["knobs"].items())
        knobs.emplace(name, valueFromJson(value));
    Target target = shippedTargets().front();
    target.gpus = json["gpus"].get<int>();
    target.packages = packagesOfRows();
    return {json["id"],
            setupFromKnobs(withKnobDefaults(std::move(knobs))),
            target,
            json["outcome"],
            json.value("exception", ""),
            {},
            {}};
}

struct Cause {
    std::string row;
    std::string kind; ///< "error" or "warning"
    std::string rule;
};

std::vector<Cause> readCauses()
{
    std::vector<Cause> causes;
    for (const auto& entry : std::filesystem::directory_iterator(TEST_DATA "/verdicts/causes")) {
        std::ifstream file(entry.path());
        for (Cause cause; file >> cause.row >> cause.kind >> cause.rule;)
            causes.push_back(cause);
    }
    return causes;
}

const Finding* find(const std::vector<Finding>& findings, const std::string& rule)
{
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding& finding) { return finding.rule == rule; });
    return found == findings.end() ? nullptr : &*found;
}

} // namespace

class TestVerdicts : public QObject {
    Q_OBJECT

private:
    std::vector<Row> m_rows;

private slots:
    void initTestCase()
    {
        std::ifstream file(TEST_DATA "/verdicts/rows.jsonl");
        for (std::string line; std::getline(file, line);)
            m_rows.push_back(readRow(nlohmann::json::parse(line)));
        std::map<std::string, Row*> byId;
        for (Row& row : m_rows)
            byId[row.id] = &row;
        for (const Cause& cause : readCauses()) {
            QVERIFY2(byId.contains(cause.row), cause.row.c_str());
            Row& row = *byId[cause.row];
            (cause.kind == "error" ? row.cause : row.warns) = cause.rule;
        }
        QVERIFY(m_rows.size() > 2000);
    }

    void whatReallyRanHasNoErrorFinding()
    {
        int ran = 0;
        int wronglyRefused = 0;
        for (const Row& row : m_rows) {
            if (!row.ran())
                continue;
            ++ran;
            for (const Finding& finding : findings(row.setup, row.target)) {
                if (!isError(finding.severity))
                    continue;
                ++wronglyRefused;
                std::printf("  %s ran, but %s: %s\n", row.id.c_str(), finding.rule.c_str(),
                            finding.message.c_str());
            }
        }
        std::printf("  %d set-ups ran; error findings on them: %d\n", ran, wronglyRefused);
        QCOMPARE(wronglyRefused, 0);
        QVERIFY(ran > 1000);
    }

    void whatStoppedForAKnownCauseHasItsErrorFinding()
    {
        std::map<std::string, std::pair<int, int>> byCause; // seen, found
        int otherCauses = 0;
        int missed = 0;
        for (const Row& row : m_rows) {
            if (row.outcome != "error")
                continue;
            if (row.cause.empty()) {
                ++otherCauses;
                continue;
            }
            const auto found = findings(row.setup, row.target);
            const Finding* finding = find(found, row.cause);
            const bool same =
                finding && isError(finding->severity) && finding->raises.starts_with(row.exception);
            auto& [seen, caught] = byCause[row.cause];
            ++seen;
            caught += same ? 1 : 0;
            missed += same ? 0 : 1;
            if (!same)
                std::printf("  missed: %s, %s\n", row.id.c_str(), row.cause.c_str());
        }
        for (const auto& [cause, counts] : byCause)
            std::printf("  %3d of %3d  %s\n", counts.second, counts.first, cause.c_str());
        std::printf("  stopped for causes without a rule yet: %d\n", otherCauses);
        QCOMPARE(missed, 0);
        QVERIFY(byCause.size() > 15);
    }

    void whatOnlyWarnedIsFoundWithoutAnError()
    {
        int seen = 0;
        for (const Row& row : m_rows) {
            if (row.warns.empty())
                continue;
            ++seen;
            const auto found = findings(row.setup, row.target);
            const Finding* finding = find(found, row.warns);
            QVERIFY2(finding, row.id.c_str());
            QVERIFY(!isError(finding->severity));
        }
        QVERIFY(seen > 0);
    }

    void aSetupIsCheckedWithinAMillisecond()
    {
        using Clock = std::chrono::steady_clock;
        const auto perRow = [&](auto run) {
            const auto start = Clock::now();
            for (const Row& row : m_rows)
                run(row);
            return std::chrono::duration<double, std::micro>(Clock::now() - start).count()
                / static_cast<double>(m_rows.size());
        };
        const double rules = perRow([](const Row& row) { (void)findings(row.setup, row.target); });
        const double whole = perRow([](const Row& row) { (void)check(row.setup, row.target); });
        std::printf("  all rules on a set-up: %.1f microseconds; with the consequences of fixes: %.1f\n",
                    rules, whole);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        QVERIFY2(rules < 1000.0, "the rules alone, over all recorded set-ups");
#endif
    }
};

QTEST_APPLESS_MAIN(TestVerdicts)
#include "tst_verdicts.moc"
