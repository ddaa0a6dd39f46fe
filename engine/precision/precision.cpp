#include "engine/precision/precision.h"

#include "engine/precision/refused_call.h"

#include <nlohmann/json.hpp>

namespace mantissa {
namespace {

constexpr std::size_t kOnly = 0; // One optimizer for each trainer.

bool isSharded(const RunPlan& plan)
{
    return gathersWeights(plan.strategy);
}

/// FSDP has a precision class and a scaler of its own; the newer fully_shard has neither.
bool isFsdp(const RunPlan& plan)
{
    return plan.strategy == StrategyKind::Fsdp;
}

bool isMixed(const RunPlan& plan)
{
    return plan.precision == PrecisionMode::Fp16Mixed || plan.precision == PrecisionMode::Bf16Mixed
        || plan.precision == PrecisionMode::Fp8Mixed;
}

bool raisesLike(const RunPlan& plan, const char* framework)
{
    return plan.mode == RunMode::Faithful && plan.framework == framework;
}

/// Lightning's Trainer refuses at clipping: norms under FSDP, and self-unscaling optimizers under plain mixed
/// precision.
void refuseAsTrainer(const RunPlan& plan, const Optimizer& optimizer, bool byNorm)
{
    if (!raisesLike(plan, "trainer"))
        return;
    if (isFsdp(plan) && byNorm)
        throw RefusedCall("MisconfigurationException",
                          "`gradient_clip_algorithm='norm'` is currently not supported for `FSDPPrecision`");
    if (!isFsdp(plan) && isMixed(plan) && optimizer.selfUnscaling())
        throw RefusedCall("RuntimeError",
                          "The current optimizer, " + optimizer.className()
                              + ", does not allow for gradient clipping because it performs unscaling of "
                                "gradients internally.");
}

void refuseAsFabric(const RunPlan& plan, bool byNorm)
{
    if (raisesLike(plan, "fabric") && isFsdp(plan) && !byNorm)
        throw RefusedCall("NotImplementedError",
                          "FSDP currently does not support clipping gradients by value.");
}

} // namespace

Precision::Precision(const RunPlan& plan, Communicator& communicator)
    : m_plan(plan), m_dtypes(precisionDtypes(plan))
{
    if (plan.precision == PrecisionMode::Fp8Mixed)
        m_fp8 = std::make_unique<Fp8Linears>(plan.fp8, communicator);
    if (!plan.scaler.enabled)
        return;
    if (communicator.size() > 1)
        m_scaler = std::make_unique<ShardedLossScaler>(plan.scaler, communicator);
    else
        m_scaler = std::make_unique<LossScaler>(plan.scaler);
}

void Precision::convertModule(Model& model) const
{
    model.convertBuffers(m_dtypes.buffer);
    model.setLinearMath(m_fp8.get());
}

at::Tensor Precision::convertInput(const at::Tensor& input) const
{
    return input.is_floating_point() && m_dtypes.input ? input.to(*m_dtypes.input) : input;
}

at::Tensor Precision::convertOutput(const at::Tensor& output) const
{
    const at::Tensor given = m_dtypes.output ? output.to(*m_dtypes.output) : output;
    const bool widens = (isSharded(m_plan) || isMixed(m_plan)) && given.scalar_type() != at::kDouble;
    return widens ? given.to(at::kFloat) : given;
}

AutocastScope Precision::forwardContext() const
{
    const bool autocast = isMixed(m_plan) && m_plan.autocast && !isFsdp(m_plan);
    return {autocast, m_plan.precision == PrecisionMode::Fp16Mixed ? at::kHalf : at::kBFloat16};
}

at::Tensor Precision::preBackward(const at::Tensor& loss)
{
    return m_scaler ? m_scaler->scale(loss) : loss;
}

void Precision::unscaleGradients(Optimizer& optimizer)
{
    if (!m_scaler)
        return;
    if (raisesLike(m_plan, "fabric") && optimizer.selfUnscaling())
        throw RefusedCall("NotImplementedError",
                          "Gradient clipping is not implemented for optimizers handling the unscaling.");
    m_scaler->unscale(kOnly, optimizer.gradients(), isFsdp(m_plan));
}

double Precision::clipGradByNorm(Optimizer& optimizer, double maxNorm, double p, Strategy& strategy)
{
    refuseAsTrainer(m_plan, optimizer, true);
    return clipByNorm(optimizer.gradients(), maxNorm, p,
                      strategy.holdsParts() ? GradientParts::Sharded : GradientParts::Whole, strategy);
}

void Precision::clipGradByValue(Optimizer& optimizer, double limit)
{
    refuseAsTrainer(m_plan, optimizer, false);
    refuseAsFabric(m_plan, false);
    clipByValue(optimizer.gradients(), limit);
}

bool Precision::optimizerStep(Optimizer& optimizer)
{
    if (m_scaler)
        return m_scaler->step(kOnly, optimizer);
    optimizer.step();
    return false;
}

void Precision::updateScale()
{
    if (m_scaler)
        m_scaler->update();
}

std::string Precision::stateDict() const
{
    nlohmann::json json = nlohmann::json::object();
    if (m_scaler) {
        const auto& state = m_scaler->state();
        if (state.isLive())
            throw ScalerError(ScalerMistake::LiveState,
                              "the loss scaler's state is whole only after the scale was updated");
        json = {{"scale", static_cast<double>(state.now().scale)},
                {"growth_factor", state.rule().growthFactor},
                {"backoff_factor", state.rule().backoffFactor},
                {"growth_interval", state.rule().growthInterval},
                {"_growth_tracker", state.now().growthTracker}};
    }
    return json.dump();
}

void Precision::loadStateDict(const std::string& text)
{
    if (!m_scaler)
        return;
    const auto json = nlohmann::json::parse(text);
    if (json.empty())
        throw ScalerError(ScalerMistake::EmptyState,
                          "the stored loss scaler is empty: it was switched off when it was saved");
    m_scaler->state().restore(
        {static_cast<float>(json.at("scale").get<double>()), json.at("_growth_tracker").get<std::int64_t>()},
        {json.at("growth_factor").get<double>(), json.at("backoff_factor").get<double>(),
         json.at("growth_interval").get<std::int64_t>()});
}

} // namespace mantissa
