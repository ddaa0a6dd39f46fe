#pragma once

#include "engine/recipe/run_plan.h"
#include "engine/tensor/torch.h"
#include "engine/train/step_report.h"

#include <stop_token>
#include <vector>

namespace mantissa {

/// The faults that a plan asks for, as one rank sees them. Each leaves a note in the report, so that nobody
/// takes it for real.
class Faults {
public:
    Faults(const RunPlan& plan, int rank);

    /// Before a micro batch is read: stalls, and failures made on purpose (which throw).
    void beforeBatch(StepReport& report, std::int64_t globalBatch, std::stop_token stop) const;
    /// A spike or a value that is not finite shows in the recorded loss.
    at::Tensor onLoss(StepReport& report, at::Tensor loss, std::int64_t globalBatch) const;
    /// A factor reaches the backward pass only.
    at::Tensor onBackward(StepReport& report, at::Tensor loss, std::int64_t globalBatch) const;
    /// The first element of the first gradient that this rank has.
    void onGradients(StepReport& report, const std::vector<at::Tensor>& gradients) const;

private:
    bool hits(const FaultPlan& fault, const StepReport& report, std::int64_t globalBatch) const;
    static void note(StepReport& report, const FaultPlan& fault, Stage stage, const std::string& what);

    std::vector<FaultPlan> m_faults; ///< Of this rank.
    int m_rank;
};

} // namespace mantissa
