#include "engine/rules/check.h"

#include "engine/recipe/fields.h"
#include "engine/rules/consequences.h"
#include "engine/rules/rule_context.h"
#include "engine/rules/verdict.h"

#include <algorithm>
#include <iterator>

namespace mantissa {
namespace {

constexpr int kMostRounds = 10;

void sortFindings(std::vector<Finding>& findings)
{
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& left, const Finding& right) {
        if (isError(left.severity) != isError(right.severity))
            return isError(left.severity);
        if (left.stage != right.stage)
            return left.stage < right.stage;
        return left.severity < right.severity;
    });
}

bool covers(const std::string& path, const Finding& finding)
{
    if (path.empty())
        return true;
    return std::any_of(finding.paths.begin(), finding.paths.end(), [&](const std::string& own) {
        return own == path || own.starts_with(path + ".") || own.starts_with(path + "[");
    });
}

/// The reason with which the set-up leaves a finding out; null where it does not.
const Value* suppression(const Setup& setup, const Finding& finding)
{
    for (const Value& entry : setup[field::suppress].asList()) {
        if (entry["rule"].asString() == finding.rule && covers(entry["path"].asString(), finding))
            return &entry;
    }
    return nullptr;
}

/// Takes what the set-up suppresses out of the findings.
std::vector<SuppressedFinding> takeSuppressed(const Setup& setup, std::vector<Finding>& findings)
{
    std::vector<SuppressedFinding> taken;
    if (setup[field::suppress].asList().empty())
        return taken;
    const auto kept = std::stable_partition(findings.begin(), findings.end(), [&](const Finding& finding) {
        return suppression(setup, finding) == nullptr;
    });
    for (auto finding = kept; finding != findings.end(); ++finding) {
        const std::string reason = (*suppression(setup, *finding))["reason"].asString();
        taken.push_back({std::move(*finding), reason});
    }
    findings.erase(kept, findings.end());
    return taken;
}

const Fix* firstSafeFix(const std::vector<Finding>& findings)
{
    for (const Finding& finding : findings) {
        for (const Fix& fix : finding.fixes) {
            if (fix.grade == FixGrade::Safe && !fix.edits.empty())
                return &fix;
        }
    }
    return nullptr;
}

} // namespace

std::vector<Finding> findings(const Setup& setup, const Target& target)
{
    const Target surrounded = withSurroundings(target, setup);
    RuleContext context(setup, surrounded);
    runRules(context);
    auto found = context.takeFindings();
    takeSuppressed(setup, found);
    sortFindings(found);
    return found;
}

CheckReport check(const Setup& setup, const Target& target)
{
    CheckReport report;
    report.target = withSurroundings(target, setup);
    RuleContext context(setup, report.target);
    runRules(context);
    report.findings = context.takeFindings();
    report.assumed = context.takeAssumptions();
    report.suppressed = takeSuppressed(setup, report.findings);
    sortFindings(report.findings);
    const auto before = report.findings;
    for (Finding& finding : report.findings)
        workOutFixes(finding, before, setup, target);
    report.onTarget = verdictOnTarget(setup, report.target, report.findings);
    report.here = verdictHere(setup, report.findings);
    return report;
}

std::vector<Finding> startRefusals(const CheckReport& report, RunMode mode)
{
    std::vector<Finding> refusing;
    for (const auto& finding : report.findings) {
        if (!isError(finding.severity))
            continue;
        const bool raised = finding.severity == Severity::Stops
            && (finding.stage == Stage::Unscale || finding.stage == Stage::Clip);
        const bool better = finding.engine.starts_with("better");
        if ((mode == RunMode::Faithful && raised) || (mode == RunMode::Extended && better))
            continue;
        refusing.push_back(finding);
    }
    return refusing;
}

FixAllReport fixAllSafe(const Setup& setup, const Target& target)
{
    FixAllReport report;
    report.setup = setup;
    std::vector<Setup> seen = {setup};
    while (report.rounds < kMostRounds) {
        const auto checked = check(report.setup, target);
        const Fix* fix = firstSafeFix(checked.findings);
        if (!fix)
            break;
        auto edited = applyEdits(report.setup, fix->edits);
        if (!edited)
            break;
        ++report.rounds;
        report.applied.push_back(fix->title);
        report.edits.insert(report.edits.end(), fix->edits.begin(), fix->edits.end());
        report.setup = std::move(*edited);
        if (std::find(seen.begin(), seen.end(), report.setup) != seen.end()) {
            report.cycle = true;
            break;
        }
        seen.push_back(report.setup);
    }
    return report;
}

} // namespace mantissa
