#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mantissa {

/// How a loss scale moves.
struct LossScaleRule {
    double growthFactor = 2.0;
    double backoffFactor = 0.5;
    std::int64_t growthInterval = 2000; ///< Clean updates in a row before the scale grows.
    bool operator==(const LossScaleRule&) const = default;
};

/// A loss scale at one moment.
struct LossScale {
    float scale = 65536.0F;
    std::int64_t growthTracker = 0; ///< Clean updates in a row so far.
    bool operator==(const LossScale&) const = default;
};

/// The scale after an update. A growth that would leave the range of fp32 is not taken. There is no floor.
LossScale nextLossScale(LossScale now, const LossScaleRule& rule, bool foundInf);

/// 1 / scale, rounded once: computed in double, stored in float.
float inverseScale(float scale);

enum class ScalerMistake {
    FactorOutOfRange, ///< Growth ≤ 1 or backoff ≥ 1.
    NotScaledYet, ///< Something else was called before the first scale().
    UnscaledTwice,
    UnscaledAfterStep,
    SteppedTwice,
    NothingChecked, ///< A step or an update without any inf check before it.
    HalfGradient, ///< fp16 gradients cannot be unscaled in place.
    BadNewScale, ///< update() was given something that is not one number.
    NothingToScale, ///< scale() was given no tensor, or one that is no floating-point number.
    ClosureGiven, ///< An optimizer that evaluates again within its step.
    LiveState, ///< The state was asked for between a step and the update.
    EmptyState, ///< The state to load comes from a scaler that was switched off.
};

/// The scaler was used in an order, or with a value, that has no meaning.
struct ScalerError : std::logic_error {
    ScalerError(ScalerMistake what, const std::string& words) : std::logic_error(words), mistake(what) {}
    ScalerMistake mistake;
};

/// Where one optimizer is between two updates of the scale.
enum class ScalerStage { Ready, Unscaled, Stepped };

/// The life of a loss scale with its optimizers, without any tensor: which call is allowed when, what was
/// found, how the scale moves. Optimizers are numbered. A switched-off scaler lets everything pass.
class ScalerState {
public:
    ScalerState(double initialScale, LossScaleRule rule, bool enabled = true);

    bool enabled() const { return m_enabled; }
    const LossScaleRule& rule() const { return m_rule; }
    LossScale now() const { return m_enabled ? m_now : LossScale{1.0F, 0}; }
    ScalerStage stage(std::size_t optimizer) const;
    std::optional<bool> found(std::size_t optimizer) const; ///< None: not checked since the last update.

    void markScaled() { m_scaledOnce = true; }
    void allowUnscale(std::size_t optimizer) const; ///< Throws where unscaling is out of turn.
    void markUnscaled(std::size_t optimizer,
                      std::optional<bool> found); ///< None: there was no gradient to check.
    void allowStep(std::size_t optimizer) const;
    void markChecked(std::size_t optimizer,
                     std::optional<bool> found); ///< Checked but not unscaled: the optimizer will do that.
    void markStepped(std::size_t optimizer);
    void update(); ///< One optimizer that overflowed backs the shared scale off for all.
    void update(const std::vector<float>& newScale); ///< Sets the scale; exactly one finite element.

    /// Whether an optimizer was checked or stepped since the last update.
    bool isLive() const { return !m_entries.empty(); }

    void setScale(float scale); ///< By hand, at any time: the growth tracker goes on.
    void setGrowthFactor(double factor);
    void setBackoffFactor(double factor);
    void setGrowthInterval(std::int64_t interval);
    void restore(LossScale now, LossScaleRule rule);

private:
    struct Entry {
        ScalerStage stage = ScalerStage::Ready;
        std::optional<bool> found;
    };
    Entry& entry(std::size_t optimizer);
    void requireScaled(const char* call) const;

    bool m_enabled;
    bool m_scaledOnce = false;
    LossScaleRule m_rule;
    LossScale m_now;
    std::vector<Entry> m_entries;
};

} // namespace mantissa
