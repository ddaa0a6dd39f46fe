#include "engine/precision/loss_scaler.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

LossScaler::LossScaler(const ScalerPlan& plan)
    : m_state(plan.initScale, {plan.growthFactor, plan.backoffFactor, plan.growthInterval}, plan.enabled)
{
}

void LossScaler::update(const at::Tensor& newScale)
{
    if (!m_state.enabled())
        return;
    const bool sound = newScale.defined() && newScale.numel() == 1 && newScale.is_floating_point()
        && newScale.device().is_cpu() && !newScale.requires_grad();
    if (!sound)
        throw ScalerError(ScalerMistake::BadNewScale,
                          "a new loss scale is one floating-point number on the CPU that needs no gradient");
    m_state.update(std::vector<float>{newScale.item<float>()});
}

std::vector<at::Tensor> LossScaler::scale(const std::vector<at::Tensor>& losses)
{
    std::vector<at::Tensor> scaled;
    for (const auto& loss : losses)
        scaled.push_back(scale(loss));
    return scaled;
}

at::Tensor LossScaler::scale(const at::Tensor& loss)
{
    if (m_state.enabled() && (!loss.defined() || !loss.is_floating_point()))
        throw ScalerError(ScalerMistake::NothingToScale,
                          "only a loss in floating-point numbers can be scaled");
    m_state.markScaled();
    if (!m_state.enabled())
        return loss;
    return loss * at::scalar_tensor(m_state.now().scale, at::kFloat);
}

std::optional<bool> LossScaler::check(std::size_t optimizer, const std::vector<at::Tensor>& gradients,
                                      float inverse)
{
    if (gradients.empty() && !hasPeers())
        return std::nullopt;
    const at::NoGradGuard noGrad;
    at::Tensor found = at::zeros({}, at::kFloat);
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, at::scalar_tensor(inverse, at::kFloat));
    // A scale that has decayed to 0 has no inverse: the gradients are lost, and 0 × Inf would reach the
    // weights as NaN.
    const bool lost = !std::isfinite(inverseScale(m_state.now().scale));
    const float here = lost || found.item<float>() != 0.0F ? 1.0F : 0.0F;
    if (m_foundHere.size() <= optimizer)
        m_foundHere.resize(optimizer + 1);
    m_foundHere[optimizer] = here != 0.0F;
    return agree(here) != 0.0F;
}

void LossScaler::unscale(std::size_t optimizer, const std::vector<at::Tensor>& gradients, bool allowHalf)
{
    if (!m_state.enabled())
        return;
    m_state.allowUnscale(optimizer);
    const auto isFp16 = [](const at::Tensor& t) { return t.scalar_type() == at::kHalf; };
    if (!allowHalf && std::any_of(gradients.begin(), gradients.end(), isFp16))
        throw ScalerError(ScalerMistake::HalfGradient,
                          "fp16 gradients cannot be unscaled: their small values are gone already");
    m_state.markUnscaled(optimizer, check(optimizer, gradients, inverseScale(m_state.now().scale)));
}

bool LossScaler::step(std::size_t number, Optimizer& optimizer)
{
    if (!m_state.enabled()) {
        optimizer.step();
        return false;
    }
    if (optimizer.plan().needsClosure())
        throw ScalerError(ScalerMistake::ClosureGiven,
                          optimizer.className()
                              + " evaluates its loss again within a step, which a loss scale does not allow");
    m_state.allowStep(number);
    const bool ready = m_state.stage(number) == ScalerStage::Ready;
    const auto gradients = optimizer.gradients();
    if (ready && optimizer.selfUnscaling())
        m_state.markChecked(number, check(number, gradients, 1.0F));
    else if (ready)
        unscale(number, gradients, false);
    m_state.markStepped(number);
    const bool found = *m_state.found(number);
    if (optimizer.selfUnscaling()) {
        StepScaling scaling;
        if (ready)
            scaling.gradScale = at::scalar_tensor(m_state.now().scale, at::kFloat);
        scaling.foundInf = at::scalar_tensor(found ? 1.0F : 0.0F, at::kFloat);
        optimizer.step(scaling);
    } else if (!found) {
        optimizer.step();
    }
    return found;
}

bool LossScaler::foundHere(std::size_t optimizer) const
{
    return optimizer < m_foundHere.size() && m_foundHere[optimizer];
}

float ShardedLossScaler::agree(float foundHere)
{
    m_communicator.allReduce(&foundHere, 1, WireType::F32, ReduceOp::Max);
    return foundHere;
}

} // namespace mantissa
