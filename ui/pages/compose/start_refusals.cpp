#include "ui/pages/compose/start_refusals.h"

namespace mantissa::ui {

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

} // namespace mantissa::ui
