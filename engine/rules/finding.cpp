#include "engine/rules/finding.h"

namespace mantissa {

std::string_view severityId(Severity severity)
{
    switch (severity) {
    case Severity::WontStart:
        return "wont_start";
    case Severity::Stops:
        return "stops";
    case Severity::Differs:
        return "differs";
    case Severity::Wasteful:
        return "wasteful";
    case Severity::Info:
        return "info";
    }
    return "info";
}

std::string severityWords(Severity severity, Stage stage)
{
    switch (severity) {
    case Severity::WontStart:
        return "Will not start";
    case Severity::Stops:
        if (stage == Stage::Record) // A save, not a step, meets it.
            return "Will stop at the first save, at Record";
        return "Will stop at step 1, at " + std::string(stageTitle(stage));
    case Severity::Differs:
        return "Will start, but not as asked";
    case Severity::Wasteful:
        return "Wasteful";
    case Severity::Info:
        return "Good to know";
    }
    return "Good to know";
}

std::string_view fixGradeId(FixGrade grade)
{
    switch (grade) {
    case FixGrade::Safe:
        return "safe";
    case FixGrade::Changes:
        return "changes";
    case FixGrade::Manual:
        return "manual";
    }
    return "manual";
}

} // namespace mantissa
