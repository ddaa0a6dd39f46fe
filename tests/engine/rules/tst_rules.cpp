#include "engine/rules/rule.h"
#include "tests/engine/rules/case_table.h"

#include <QTest>

#include <set>

using namespace mantissa;

class TestRules : public QObject {
    Q_OBJECT

private:
    std::vector<RuleCase> m_cases = ruleCases();

    void addRows(const std::set<std::string>& kinds)
    {
        QTest::addColumn<int>("line");
        for (std::size_t i = 0; i < m_cases.size(); ++i) {
            if (kinds.contains(m_cases[i].kind))
                QTest::addRow("%s, line %d", m_cases[i].rule.c_str(), static_cast<int>(i) + 1)
                    << static_cast<int>(i);
        }
    }
    const RuleCase& at(int line) const { return m_cases[static_cast<std::size_t>(line)]; }

private slots:
    void aSetupWithTheConflictIsFound_data() { addRows({"triggers"}); }
    void aSetupWithTheConflictIsFound()
    {
        QFETCH(int, line);
        const RuleCase& row = at(line);

        const auto report = check(row.setup(), row.target());

        const Finding* finding = findingOf(report.findings, row.rule);
        QVERIFY(finding);
        QCOMPARE(std::string(severityId(finding->severity)), row.text("severity"));
        QCOMPARE(std::string(stageId(finding->stage)), row.text("stage"));
        QVERIFY2(finding->message.find(row.text("says")) != std::string::npos, finding->message.c_str());
        QVERIFY(!finding->why.empty());
        QVERIFY(!finding->source.where.empty());
        QVERIFY(finding->engine == "same" || finding->engine == "cannot"
                || finding->engine.starts_with("better: "));
    }

    void itsNeighbourIsLeftAlone_data() { addRows({"quiet"}); }
    void itsNeighbourIsLeftAlone()
    {
        QFETCH(int, line);
        const RuleCase& row = at(line);

        const auto found = findings(row.setup(), row.target());

        QVERIFY(!findingOf(found, row.rule));
    }

    void aFixClearsIt_data() { addRows({"fix"}); }
    void aFixClearsIt()
    {
        QFETCH(int, line);
        const RuleCase& row = at(line);
        const auto report = check(row.setup(), row.target());
        const Finding* finding = findingOf(report.findings, row.rule);
        QVERIFY(finding);
        const Fix* fix = fixTitled(*finding, row.text("fix"));
        QVERIFY(fix);
        QCOMPARE(std::string(fixGradeId(fix->grade)), row.text("grade"));

        const auto fixed = applyEdits(row.setup(), fix->edits);

        QVERIFY(fixed);
        QVERIFY(!findingOf(findings(*fixed, row.target()), row.rule));
        QVERIFY(std::find(fix->clears.begin(), fix->clears.end(), row.rule) != fix->clears.end());
    }

    void aFixThatDoesNotHelpIsNotOffered_data() { addRows({"no-such-fix"}); }
    void aFixThatDoesNotHelpIsNotOffered()
    {
        QFETCH(int, line);
        const RuleCase& row = at(line);

        const auto report = check(row.setup(), row.target());

        const Finding* finding = findingOf(report.findings, row.rule);
        QVERIFY(finding);
        QVERIFY(!fixTitled(*finding, row.text("fix")));
    }

    void everyOfferedFixHelpsAndBringsNoError_data() { addRows({"triggers"}); }
    void everyOfferedFixHelpsAndBringsNoError()
    {
        QFETCH(int, line);
        const RuleCase& row = at(line);
        const Setup setup = row.setup();
        std::set<std::string> errorsBefore;
        const auto report = check(setup, row.target());
        for (const Finding& finding : report.findings) {
            if (isError(finding.severity))
                errorsBefore.insert(finding.rule);
        }

        for (const Finding& finding : report.findings) {
            for (const Fix& fix : finding.fixes) {
                if (fix.edits.empty()) {
                    QCOMPARE(fix.grade, FixGrade::Manual);
                    QVERIFY(!fix.text.empty());
                    continue;
                }
                const auto fixed = applyEdits(setup, fix.edits);
                QVERIFY(fixed);
                const Value& moved = fixed->at("mantissa.target");
                const Target target = moved.isSet() ? *targetFrom(moved) : row.target();
                for (const Finding& after : findings(*fixed, target))
                    QVERIFY2(!isError(after.severity) || errorsBefore.contains(after.rule),
                             fix.title.c_str());
            }
        }
    }

    void everyIdIsKnownAndOnce()
    {
        std::set<std::string_view> ids;
        for (const RuleTopic& topic : ruleTopics()) {
            for (const Rule& rule : topic.rules) {
                QVERIFY2(ids.insert(rule.id).second, rule.id.data());
                QCOMPARE(ruleWithId(rule.id), &rule);
            }
        }
        for (const RuleCase& row : m_cases)
            QVERIFY2(ids.contains(row.rule), row.rule.c_str());
    }
};

QTEST_APPLESS_MAIN(TestRules)
#include "tst_rules.moc"
