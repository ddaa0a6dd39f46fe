#pragma once

#include "tests/support/real_runs.h"

namespace mantissa {

/// A small pair of networks on made-up data, the same for any number of ranks: the joint batch is 32 rows.
inline RunPlan ganPlan(StrategyKind strategy, int ranks, PrecisionMode precision = PrecisionMode::Fp32True)
{
    RunPlan plan = smallPlan(strategy, ranks);
    plan.precision = precision;
    plan.scaler.enabled = precision == PrecisionMode::Fp16Mixed;
    plan.scaler.initScale = 1024.0;
    plan.model = GanPlan{16, 8, 24, 3, 1};
    plan.data = SyntheticPlan{"vectors", 16, 10, 640};
    plan.ddp.findUnused = true;
    OptimizerPlan adam;
    adam.kind = OptimizerKind::Adam;
    adam.impl = OptimizerImpl::ForLoop;
    adam.learningRate = 2e-3;
    adam.beta1 = 0.5;
    plan.ownOptimizers = {{"discriminator", "d", adam}, {"generator", "g", adam}};
    plan.ownOptimizers[1].plan.learningRate = 1e-3;
    plan.optimizer = adam;
    return plan;
}

inline RunPlan withDiscriminatorSteps(RunPlan plan, std::int64_t steps)
{
    std::get<GanPlan>(plan.model).discriminatorSteps = steps;
    plan.accumulate = {{0, steps}};
    return plan;
}

} // namespace mantissa
