#include "app/cli/batch.h"

#include "app/cli/command.h"
#include "app/cli/finding_lines.h"
#include "app/cli/json_text.h"
#include "app/cli/printable.h"
#include "engine/recipe/knob_check.h"
#include "engine/recipe/knob_defaults.h"
#include "engine/recipe/value_json.h"
#include "engine/rules/check.h"
#include "engine/rules/findings_json.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace mantissa::cli {
namespace {

constexpr std::size_t kLongestLine = std::size_t{4} << 20;
constexpr int kDeepest = 100;

enum class LineKind { End, Text, TooLong };

/// One line without its end. A line that is too long is passed over, so that it costs no memory.
LineKind readLine(std::istream& rows, std::string& line)
{
    line.clear();
    bool any = false;
    bool tooLong = false;
    for (int c = rows.get(); c != std::istream::traits_type::eof(); c = rows.get()) {
        any = true;
        if (c == '\n')
            break;
        tooLong = tooLong || line.size() == kLongestLine;
        if (!tooLong)
            line.push_back(static_cast<char>(c));
    }
    if (!any)
        return LineKind::End;
    return tooLong ? LineKind::TooLong : LineKind::Text;
}

Json parseRow(const std::string& line)
{
    const auto notTooDeep = [](int depth, Json::parse_event_t, Json&) {
        if (depth > kDeepest)
            throw std::runtime_error("The row is nested more than " + std::to_string(kDeepest)
                                     + " levels deep.");
        return true;
    };
    Json row;
    try {
        row = Json::parse(line, notTooDeep);
    } catch (const Json::parse_error& error) {
        throw std::runtime_error("The line is no JSON; it goes wrong at byte " + std::to_string(error.byte)
                                 + ".");
    } catch (const Json::out_of_range&) {
        throw std::runtime_error("The line holds a number that is too large for any setting.");
    }
    if (!row.is_object())
        throw std::runtime_error("The row is no object with id, knobs and target.");
    return row;
}

Knobs knobsOf(const Json& row)
{
    const auto found = row.find("knobs");
    if (found == row.end() || !found->is_object())
        throw std::runtime_error("The row has no object \"knobs\".");
    Knobs knobs;
    for (const auto& [name, value] : found->items())
        knobs.insert_or_assign(name, valueFromJson(nlohmann::json(value)));
    return knobs;
}

Target targetOfRow(const Json& row, const Target& fallback)
{
    const auto found = row.find("target");
    if (found == row.end() || found->is_null() || (found->is_object() && found->empty()))
        return fallback;
    const auto target = targetFrom(valueFromJson(nlohmann::json(*found)));
    if (!target)
        throw std::runtime_error(target.error().message);
    return *target;
}

std::string idText(const Json& id)
{
    return printable(id.is_string() ? id.get<std::string>() : id.dump());
}

void print(const Json& id, const std::vector<std::string>& unknown, const std::vector<Finding>& findings,
           bool json)
{
    if (json) {
        Json line = {{"id", id}};
        if (!unknown.empty())
            line["unknown"] = unknown;
        line["findings"] = jsonOf(findings);
        printJson(line);
        return;
    }
    for (const auto& knob : unknown)
        std::printf("%s: there is no knob \"%s\"\n", idText(id).c_str(), printable(knob).c_str());
    for (const Finding& finding : findings)
        std::printf("%s: %s\n", idText(id).c_str(), findingText(finding).c_str());
}

void printError(const Json& id, const std::string& error, bool json)
{
    if (json)
        printJson({{"id", id}, {"error", error}});
    else
        std::printf("%s: error: %s\n", idText(id).c_str(), printable(error).c_str());
}

bool hasError(const std::vector<Finding>& findings)
{
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& finding) { return isError(finding.severity); });
}

/// What one line comes to.
ExitCode checkLine(const std::string& line, const Target& fallback, bool json)
{
    Json id;
    try {
        const auto row = parseRow(line);
        id = row.value("id", Json());
        const auto knobs = knobsOf(row);
        const auto known = checkKnobs(knobs);
        if (!known.error.empty())
            throw std::runtime_error(known.error);
        Target target = targetOfRow(row, fallback);
        if (!target.packages)
            target.packages = packagesOfRows();
        const auto report = check(setupFromKnobs(withKnobDefaults(knobs)), target);
        print(id, known.unknown, report.findings, json);
        return hasError(report.findings) ? Findings : Ok;
    } catch (const std::exception& error) {
        printError(id, error.what(), json);
        return Unreadable;
    }
}

} // namespace

int checkBatch(std::istream& rows, const Target& fallback, bool json)
{
    bool findings = false;
    bool unreadable = false;
    std::string line;
    for (LineKind kind = readLine(rows, line); kind != LineKind::End; kind = readLine(rows, line)) {
        if (kind == LineKind::TooLong) {
            printError({}, "The line is longer than 4 MiB.", json);
            unreadable = true;
            continue;
        }
        if (line.find_first_not_of(" \t\r") == std::string::npos)
            continue;
        const ExitCode code = checkLine(line, fallback, json);
        findings = findings || code == Findings;
        unreadable = unreadable || code == Unreadable;
    }
    if (findings)
        return Findings;
    return unreadable ? Unreadable : Ok;
}

} // namespace mantissa::cli
