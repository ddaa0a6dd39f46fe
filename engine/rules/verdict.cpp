#include "engine/rules/verdict.h"

#include <algorithm>

namespace mantissa {
namespace {

std::string lowerFirst(std::string words)
{
    if (!words.empty() && words.front() >= 'A' && words.front() <= 'Z')
        words.front() = static_cast<char>(words.front() - 'A' + 'a');
    return words;
}

std::string rankWords(const RunPlan& plan)
{
    return plan.ranks == 1 ? "1 rank" : std::to_string(plan.ranks) + " thread ranks";
}

/// What the target raises first, where a faithful run raises it too; nothing where it has none to raise.
const Finding* faithfulStop(const RunPlan& plan, const std::vector<Finding>& findings)
{
    if (plan.mode != RunMode::Faithful)
        return nullptr;
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return isError(finding.severity); });
    return found == findings.end() ? nullptr : &*found;
}

} // namespace

std::string_view verdictId(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Runs:
        return "runs";
    case Verdict::RunsOtherwise:
        return "runs_otherwise";
    case Verdict::Stops:
        return "stops";
    case Verdict::WontStart:
        return "wont_start";
    case Verdict::NotChecked:
        return "not_checked";
    }
    return "not_checked";
}

VerdictReport verdictOnTarget(const Setup& setup, const Target& target, const std::vector<Finding>& findings)
{
    const std::string side = "Target: ";
    const std::string doubt = target.verified ? "" : " (unverified version " + target.lightning + ")";
    if (!findings.empty() && isError(findings.front().severity)) {
        const Finding& first = findings.front();
        const Verdict verdict = first.severity == Severity::Stops ? Verdict::Stops : Verdict::WontStart;
        return {verdict, first.stage, side + lowerFirst(severityWords(first.severity, first.stage)) + doubt};
    }
    const auto differs = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.severity == Severity::Differs;
    });
    if (differs != findings.end())
        return {Verdict::RunsOtherwise, differs->stage, side + "runs, but not as asked" + doubt};
    if (!target.verified) // That nothing was found says nothing where nothing was measured.
        return {Verdict::NotChecked, Stage::Configure, side + "nothing is known against it" + doubt};
    if (setup == Setup())
        return {Verdict::NotChecked, Stage::Configure, side + "nothing to check, the set-up is empty"};
    return {Verdict::Runs, Stage::Configure, side + "runs" + doubt};
}

VerdictReport verdictHere(const Setup& setup, const std::vector<Finding>& findings)
{
    const std::string side = "This machine: ";
    const auto plan = planRun(setup);
    if (!plan)
        return {Verdict::WontStart, Stage::Configure, side + "cannot train it. " + plan.error().message};
    if (const Finding* stop = faithfulStop(*plan, findings)) {
        const Verdict verdict = stop->severity == Severity::Stops ? Verdict::Stops : Verdict::WontStart;
        return {verdict, stop->stage,
                side + "faithful to the target, " + lowerFirst(severityWords(stop->severity, stop->stage))};
    }
    return {Verdict::Runs, Stage::Configure, side + "runs, " + rankWords(*plan)};
}

} // namespace mantissa
