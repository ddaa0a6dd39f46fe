#include "engine/rules/text_findings.h"

#include "engine/recipe/locate.h"
#include "engine/rules/making.h"
#include "engine/rules/verdict.h"

#include <algorithm>

namespace mantissa {
namespace {

Finding findingFor(const SourceProblem& problem)
{
    Finding finding;
    finding.rule = problem.id;
    finding.severity = problem.grade == ProblemGrade::Warning ? Severity::Differs : Severity::WontStart;
    finding.stage = Stage::Configure;
    if (!problem.path.empty())
        finding.paths = {problem.path};
    finding.message = problem.message;
    finding.why = problem.grade == ProblemGrade::Warning ? "The target's parser takes it without a word."
                                                         : "The target's parser refuses it.";
    finding.source = {"jsonargparse", "4", "reading of configuration files"};
    finding.engine = "same";
    if (!problem.hint.empty())
        finding.fixes = {manualFix(problem.hint, problem.hint)};
    return finding;
}

/// The problem of the text that a finding came from; null where a rule reported it.
const SourceProblem* problemOf(const Finding& finding, const SetupFile& file)
{
    const auto found =
        std::find_if(file.problems.begin(), file.problems.end(), [&](const SourceProblem& problem) {
            return problem.id == finding.rule && problem.message == finding.message;
        });
    return found == file.problems.end() ? nullptr : &*found;
}

} // namespace

std::vector<Finding> textFindings(const SetupFile& file)
{
    std::vector<Finding> result;
    for (const SourceProblem& problem : file.problems)
        result.push_back(findingFor(problem));
    return result;
}

CheckReport checkFile(const SetupFile& file, const Target& target)
{
    CheckReport report = check(file.setup, target);
    auto findings = textFindings(file);
    findings.insert(findings.end(), report.findings.begin(), report.findings.end());
    std::stable_partition(findings.begin(), findings.end(),
                          [](const Finding& finding) { return isError(finding.severity); });
    report.findings = std::move(findings);
    report.onTarget = verdictOnTarget(file.setup, report.target, report.findings);
    return report;
}

SourcePoint placeOf(const Finding& finding, const SetupFile& file)
{
    if (const SourceProblem* problem = problemOf(finding, file))
        return problem->span.begin;
    for (const std::string& path : finding.paths) {
        if (const auto* entry = file.map.find(rawPath(file.setup.root(), path)))
            return entry->key.begin;
    }
    if (finding.paths.empty())
        return {};
    const auto* enclosing = file.map.nearest(rawPath(file.setup.root(), finding.paths.front()));
    return enclosing ? enclosing->key.begin : SourcePoint{};
}

} // namespace mantissa
