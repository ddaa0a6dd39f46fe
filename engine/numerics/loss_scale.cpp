#include "engine/numerics/loss_scale.h"

#include <algorithm>
#include <cmath>

namespace mantissa {
namespace {

void checkFactors(const LossScaleRule& rule)
{
    if (!(rule.growthFactor > 1.0))
        throw ScalerError(ScalerMistake::FactorOutOfRange,
                          "the growth factor of a loss scale must be above 1");
    if (!(rule.backoffFactor < 1.0))
        throw ScalerError(ScalerMistake::FactorOutOfRange,
                          "the backoff factor of a loss scale must be below 1");
}

} // namespace

LossScale nextLossScale(LossScale now, const LossScaleRule& rule, bool foundInf)
{
    if (foundInf)
        return {static_cast<float>(static_cast<double>(now.scale) * rule.backoffFactor), 0};
    if (now.growthTracker + 1 < rule.growthInterval)
        return {now.scale, now.growthTracker + 1};
    const auto grown = static_cast<float>(static_cast<double>(now.scale) * rule.growthFactor);
    return {std::isfinite(grown) ? grown : now.scale, 0};
}

float inverseScale(float scale)
{
    return static_cast<float>(1.0 / static_cast<double>(scale));
}

ScalerState::ScalerState(double initialScale, LossScaleRule rule, bool enabled)
    : m_enabled(enabled), m_rule(rule), m_now{static_cast<float>(initialScale), 0}
{
    if (m_enabled)
        checkFactors(m_rule);
}

ScalerState::Entry& ScalerState::entry(std::size_t optimizer)
{
    if (optimizer >= m_entries.size())
        m_entries.resize(optimizer + 1);
    return m_entries[optimizer];
}

ScalerStage ScalerState::stage(std::size_t optimizer) const
{
    return optimizer < m_entries.size() ? m_entries[optimizer].stage : ScalerStage::Ready;
}

std::optional<bool> ScalerState::found(std::size_t optimizer) const
{
    return optimizer < m_entries.size() ? m_entries[optimizer].found : std::nullopt;
}

void ScalerState::requireScaled(const char* call) const
{
    if (!m_scaledOnce)
        throw ScalerError(ScalerMistake::NotScaledYet,
                          std::string(call) + " was called before any loss was scaled");
}

void ScalerState::allowUnscale(std::size_t optimizer) const
{
    requireScaled("unscale");
    if (stage(optimizer) == ScalerStage::Unscaled)
        throw ScalerError(ScalerMistake::UnscaledTwice,
                          "the gradients of this optimizer are unscaled already; update the scale first");
    if (stage(optimizer) == ScalerStage::Stepped)
        throw ScalerError(ScalerMistake::UnscaledAfterStep,
                          "unscaling comes before the optimizer's step, not after it");
}

void ScalerState::markUnscaled(std::size_t optimizer, std::optional<bool> found)
{
    entry(optimizer) = {ScalerStage::Unscaled, found};
}

void ScalerState::allowStep(std::size_t optimizer) const
{
    requireScaled("step");
    if (stage(optimizer) == ScalerStage::Stepped)
        throw ScalerError(ScalerMistake::SteppedTwice,
                          "this optimizer has made its step already; update the scale first");
}

void ScalerState::markChecked(std::size_t optimizer, std::optional<bool> found)
{
    entry(optimizer).found = found;
}

void ScalerState::markStepped(std::size_t optimizer)
{
    if (!found(optimizer))
        throw ScalerError(ScalerMistake::NothingChecked,
                          "the step of an optimizer without a single gradient cannot be decided");
    entry(optimizer).stage = ScalerStage::Stepped;
}

void ScalerState::update()
{
    if (!m_enabled)
        return;
    requireScaled("update");
    const auto checked = [](const Entry& e) { return e.found.has_value(); };
    if (std::none_of(m_entries.begin(), m_entries.end(), checked))
        throw ScalerError(ScalerMistake::NothingChecked,
                          "the scale cannot be updated: no gradients were checked since the last update");
    const bool any = std::any_of(m_entries.begin(), m_entries.end(),
                                 [](const Entry& e) { return e.found.value_or(false); });
    m_now = nextLossScale(m_now, m_rule, any);
    m_entries.clear();
}

void ScalerState::update(const std::vector<float>& newScale)
{
    if (!m_enabled)
        return;
    requireScaled("update");
    if (newScale.size() != 1)
        throw ScalerError(ScalerMistake::BadNewScale,
                          "a new loss scale is one number, not " + std::to_string(newScale.size()));
    m_now.scale = newScale.front();
    m_entries.clear();
}

void ScalerState::setScale(float scale)
{
    if (!std::isfinite(scale) || !(scale > 0.0F))
        throw ScalerError(ScalerMistake::BadNewScale, "a loss scale is a finite number above 0");
    m_now.scale = scale;
}

void ScalerState::setGrowthFactor(double factor)
{
    m_rule.growthFactor = factor;
}

void ScalerState::setBackoffFactor(double factor)
{
    m_rule.backoffFactor = factor;
}

void ScalerState::setGrowthInterval(std::int64_t interval)
{
    m_rule.growthInterval = interval;
}

void ScalerState::restore(LossScale now, LossScaleRule rule)
{
    if (!m_enabled)
        return;
    m_now = now;
    m_rule = rule;
}

} // namespace mantissa
