#include "engine/train/shadow.h"

#include "engine/callbacks/callback_list.h"
#include "engine/comm/thread_group.h"
#include "engine/strategy/strategy.h"
#include "engine/tensor/guarded_torch.h"
#include "engine/train/layer_probe.h"
#include "engine/train/shadow_compare.h"
#include "engine/train/trainer.h"

#include <utility>

namespace mantissa {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors)
{
    std::vector<at::Tensor> copies;
    for (const auto& tensor : tensors)
        copies.push_back(tensor.defined() ? tensor.detach().clone() : tensor);
    return copies;
}

/// Takes weights and gradients when the step has them.
class ShadowCapture final : public Callback {
public:
    explicit ShadowCapture(ShadowSide& side) : m_side(side) {}

    void onTrainBatchStart(TrainingView& view) override
    {
        if (m_side.before.empty())
            m_side.before = copies(view.strategy().parameters());
    }
    void onBeforeOptimizerStep(TrainingView& view) override
    {
        if (!m_side.gradients.empty()) // an optimizer that evaluates again
            return;
        std::vector<at::Tensor> gradients;
        for (const auto& parameter : view.strategy().parameters())
            gradients.push_back(parameter.grad());
        m_side.gradients = copies(gradients);
        m_side.gradientFactor = 1.0 / view.gradientFactor();
    }

private:
    ShadowSide& m_side;
};

/// The plan of both sides: one rank, one window, and nobody that interferes.
RunPlan alone(const ShadowRequest& request)
{
    RunPlan plan = request.plan;
    if (std::holds_alternative<TracePlan>(plan.data)) // its batch is that of all ranks
        plan.batchSize = std::max<std::int64_t>(1, plan.batchSize / plan.ranks);
    plan.ranks = 1;
    plan.shards.replicas = 1;
    plan.comm = CommKind::Threads;
    plan.accumulate = {{0, request.batches}};
    plan.divideLastWindowBySize = true;
    plan.callbacks.clear();
    plan.faults.clear();
    plan.validation = {};
    plan.checkpoints = {};
    plan.mode = RunMode::Extended;
    plan.hashParameters = false;
    plan.probeFrom = -1;
    return plan;
}

RunPlan inFp32(RunPlan plan)
{
    plan.precision = PrecisionMode::Fp32True;
    plan.scaler.enabled = false;
    plan.paramDtype.clear();
    plan.reduceDtype.clear();
    plan.shards.outputDtype.clear();
    return plan;
}

Result<ShadowSide> runSide(const RunPlan& plan, const std::filesystem::path& checkpoint)
{
    const auto prepared = prepareRun(plan, checkpoint);
    if (!prepared)
        return prepared.error();
    return guardedTorch("the shadow step", [&]() -> Result<ShadowSide> {
        ShadowSide side;
        TrainerSeams seams;
        seams.addCallbacks = [&side](CallbackList& list) {
            list.add("ShadowCapture", std::make_unique<ShadowCapture>(side));
        };
        seams.onLayer = [&side](const std::string& layer, const char* quantity, const at::Tensor& tensor) {
            side.layers[{layer, quantity}].push_back(tensor.detach().clone());
        };
        ThreadGroup group(1, kPatience);
        const auto communicator = group.communicator(0);
        Trainer trainer(*prepared, *communicator, seams);
        side.report = trainer.step();
        side.after = copies(trainer.strategy().parameters());
        for (int unit = 0; unit < trainer.model().unitCount(); ++unit)
            side.units.push_back(trainer.model().unitName(unit));
        for (const auto& weight : trainer.model().parameters())
            side.unitOf.push_back(weight.unit);
        return side;
    });
}

} // namespace

Result<ShadowReport> shadowStep(const ShadowRequest& request)
{
    if (!request.plan.ownOptimizers.empty())
        return Error{ErrorCode::NotHere,
                     "The shadow step compares one optimizer's step, and this model steps "
                     "several by itself.",
                     "Look at a model that is optimized automatically."};
    const RunPlan plan = alone(request);
    const auto asked = runSide(plan, request.checkpoint);
    if (!asked)
        return asked.error();
    const auto exact = runSide(inFp32(plan), request.checkpoint);
    if (!exact)
        return exact.error();
    return guardedTorch("comparing", [&]() -> Result<ShadowReport> {
        ShadowReport report = compareSides(*asked, *exact);
        report.precision = precisionId(plan.precision);
        report.ranks = request.plan.ranks;
        return report;
    });
}

} // namespace mantissa
