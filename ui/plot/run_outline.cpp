#include "ui/plot/run_outline.h"

namespace mantissa::ui {

RunOutline outlineOf(const RunPlan& plan)
{
    RunOutline outline;
    outline.scaled = plan.scaler.enabled;
    outline.growthInterval = plan.scaler.growthInterval;
    outline.growthFactor = plan.scaler.growthFactor;
    outline.backoffFactor = plan.scaler.backoffFactor;
    outline.clip = plan.clip.kind;
    outline.clipAt = plan.clip.value;
    outline.ranks = plan.ranks;
    outline.precision = plan.precision;
    outline.turns = plan.ownOptimizers;
    outline.holdOnSkip = plan.schedule.holdOnSkip;
    return outline;
}

int weightMantissaBits(PrecisionMode precision)
{
    switch (precision) {
    case PrecisionMode::Fp16True:
        return 10;
    case PrecisionMode::Bf16True:
        return 7;
    case PrecisionMode::Fp64True:
        return 52;
    default:
        return 23; // Mixed precision keeps fp32 weights.
    }
}

} // namespace mantissa::ui
