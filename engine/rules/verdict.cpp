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

VerdictReport verdictOnTarget(const Target& target, const std::vector<Finding>& findings)
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
    return {Verdict::Runs, Stage::Configure, side + "runs" + doubt};
}

VerdictReport verdictHere(const Setup&, const std::vector<Finding>&)
{
    return {Verdict::NotChecked, Stage::Configure, "This machine: not checked"};
}

} // namespace mantissa
