#include "engine/recipe/plan_chips.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/field.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/step_dtypes.h"
#include "engine/recipe/training_classes.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

/// A whole number without its ".0": "65536", "0.5".
std::string brief(double number)
{
    const bool whole = std::isfinite(number) && number == std::floor(number) && std::abs(number) < 1e15;
    return whole ? std::to_string(static_cast<std::int64_t>(number)) : Value(number).text();
}

std::string shown(const Value& value)
{
    if (value.isNumber())
        return brief(value.asDouble());
    return value.isString() ? value.asString() : value.text();
}

class Chips {
public:
    explicit Chips(const Setup& setup) : m_setup(setup) {}

    void setting(const Field& field, std::string value, std::string label = {})
    {
        m_chips.push_back({label.empty() ? std::string(field.label) : std::move(label), std::move(value),
                           std::string(field.path), m_setup[field].isSet()});
    }
    void effective(const Field& field, std::string label = {})
    {
        setting(field, shown(settingIn(m_setup, field)), std::move(label));
    }
    void consequence(std::string label, std::string value)
    {
        m_chips.push_back({std::move(label), std::move(value), {}, false});
    }
    void className(const Field& field, std::string label, std::string_view none)
    {
        const auto name = std::string(shortClassName(m_setup[field].asString()));
        setting(field, name.empty() ? std::string(none) : name, std::move(label));
    }

    std::vector<PlanChip> take() { return std::move(m_chips); }

private:
    const Setup& m_setup;
    std::vector<PlanChip> m_chips;
};

void dataChips(const Setup& setup, Chips& chips)
{
    chips.className(field::dataClass, "source", "–");
    chips.effective(field::batchSize, "micro batch");
    if (setup[field::dataValSplit].asDouble() > 0.0)
        chips.effective(field::dataValSplit, "kept back");
}

void inputChips(const Setup& setup, Chips& chips)
{
    const auto dtypes = stepDtypes(setup);
    if (dtypes.raw == "int64")
        chips.consequence("token ids", "int64 kept");
    else
        chips.consequence("floats", dtypes.input == dtypes.raw ? dtypes.raw + " kept" : "to " + dtypes.input);
}

void forwardChips(const Setup& setup, Chips& chips)
{
    chips.setting(field::precision, precisionName(setup));
    if (emulatesFp8(precisionName(setup))) {
        chips.consequence("linear layers", "fp8, emulated");
        chips.effective(field::fp8HistoryLength);
        chips.effective(field::fp8Margin);
    }
    chips.className(field::modelClass, "model", "–");
    const auto& strategy = setup.effective(field::strategy);
    chips.setting(field::strategy, strategy.isMap() ? classOf(strategy) : shown(strategy));
    if (strategyAsked(setup) == "fsdp")
        chips.effective(field::fsdpShardingStrategy, "sharding");
    if (strategyAsked(setup) == "model_parallel")
        chips.effective(field::shardReshard);
    if (recomputes(setup))
        chips.setting(field::recompute, "in backward", "activations");
}

void lossChips(const Setup& setup, Chips& chips)
{
    if (bringsOptimizers(setup)) {
        chips.consequence("criterion", "BCE with logits");
        chips.consequence("losses", "discriminator's, generator's");
        return;
    }
    chips.consequence("criterion", "cross_entropy");
    const auto batches = accumulationAsked(setup);
    const bool scheduled = setup[field::accumulationSchedule].isMap();
    std::string value = "÷ " + std::to_string(batches.at(0));
    if (batches.size() > 1)
        value += ", later ÷ " + std::to_string(batches.rbegin()->second);
    chips.setting(scheduled ? field::accumulationSchedule : field::accumulate, std::move(value),
                  "accumulate");
}

void scaleChips(const Setup& setup, Chips& chips)
{
    chips.setting(field::scalerInitScale, "× " + brief(scalerSetting(setup, "init_scale")));
    chips.consequence("scaler", ranksHere(setup) > 1 ? "common" : "plain");
}

void backwardChips(const Setup& setup, Chips& chips)
{
    const auto sharding = shardsAsked(setup).sharding;
    if (shardsWeights(setup) && (sharding == Sharding::Full || sharding == Sharding::Hybrid))
        chips.consequence("gathers again", "each unit");
    else
        chips.consequence("gradients", stepDtypes(setup).gradient);
    if (setup[field::inject].isList() && !setup[field::inject].asList().empty())
        chips.setting(field::inject, std::to_string(setup[field::inject].asList().size()),
                      "faults on purpose");
}

void reduceChips(const Setup& setup, Chips& chips)
{
    chips.consequence("mean over", std::to_string(ranksHere(setup)) + " ranks");
    if (strategyAsked(setup) == "model_parallel")
        chips.setting(field::shardReduceDtype, stepDtypes(setup).reduce);
    else if (shardsWeights(setup))
        chips.setting(field::fsdpReduceDtype, stepDtypes(setup).reduce);
    if (strategyAsked(setup) == "ddp" && setup[field::ddpBucketCap].isSet())
        chips.effective(field::ddpBucketCap);
    const auto batches = accumulationAsked(setup);
    const bool accumulates =
        std::any_of(batches.begin(), batches.end(), [](const auto& b) { return b.second > 1; });
    if (accumulates)
        chips.setting(field::noSync,
                      setup.effective(field::noSync).asBool() ? "once a window" : "every micro batch",
                      "reduced");
}

void unscaleChips(const Setup& setup, Chips& chips)
{
    chips.consequence("÷ scale", "at first " + brief(scalerSetting(setup, "init_scale")));
    chips.consequence("done by", "scaler");
}

void clipChips(const Setup& setup, Chips& chips)
{
    const auto clip = clipAsked(setup);
    if (clip.kind == ClipKind::None)
        return;
    const auto* asked = fieldAt(clip.path);
    if (clip.kind == ClipKind::Value) {
        chips.setting(*asked, brief(clip.value), "largest element");
        return;
    }
    chips.setting(*asked, brief(clip.value), "max_norm");
    chips.setting(field::normType, brief(clip.normType));
}

void frozenChips(const Setup& setup, Chips& chips)
{
    if (const auto frozen = frozenAsked(setup); !frozen.empty())
        chips.setting(field::frozen,
                      frozen.size() == 1 ? frozen.front() : std::to_string(frozen.size()) + " groups");
}

/// Two optimizers on one card, in the order of their steps.
void ownOptimizerChips(const Setup& setup, Chips& chips)
{
    const auto adam = [&](const Field& rate, const std::string& label) {
        chips.setting(rate, "Adam " + shown(settingIn(setup, rate)), label);
    };
    adam(field::lrDiscriminator, "1 discriminator");
    adam(field::lrGenerator, "2 generator");
    chips.setting(field::discriminatorSteps, shown(settingIn(setup, field::discriminatorSteps)) + " : 1",
                  "steps");
    frozenChips(setup, chips);
}

void optimizerChips(const Setup& setup, Chips& chips)
{
    if (bringsOptimizers(setup))
        return ownOptimizerChips(setup, chips);
    chips.className(field::optimizerClass, "optimizer", "–");
    if (concernsClass(setup, field::fused))
        chips.effective(field::fused);
    chips.effective(field::learningRate);
    chips.className(field::scheduleClass, "schedule", "constant");
    if (setup[field::optimizerClass].asString().ends_with("8bit"))
        chips.setting(field::quantizer, shown(setup.effective(field::quantizer)), "8-bit states");
    if (usesScaler(setup) && !unscalesExplicitly(setup))
        chips.consequence("÷ scale", "by the optimizer");
    frozenChips(setup, chips);
}

void updateChips(const Setup& setup, Chips& chips)
{
    chips.setting(field::scalerGrowthFactor,
                  "× " + brief(scalerSetting(setup, "growth_factor")) + " / "
                      + brief(scalerSetting(setup, "growth_interval")),
                  "growth");
    chips.setting(field::scalerBackoffFactor, "× " + brief(scalerSetting(setup, "backoff_factor")),
                  "backoff");
}

struct CardChips {
    Stage stage;
    void (*add)(const Setup&, Chips&);
};

constexpr std::array kCards = {
    CardChips{Stage::Data, dataChips},          CardChips{Stage::ConvertInput, inputChips},
    CardChips{Stage::Forward, forwardChips},    CardChips{Stage::Loss, lossChips},
    CardChips{Stage::Scale, scaleChips},        CardChips{Stage::Backward, backwardChips},
    CardChips{Stage::Reduce, reduceChips},      CardChips{Stage::Unscale, unscaleChips},
    CardChips{Stage::Clip, clipChips},          CardChips{Stage::Optimizer, optimizerChips},
    CardChips{Stage::UpdateScale, updateChips},
};

} // namespace

std::vector<PlanChip> stageChips(const Setup& setup, Stage stage)
{
    Chips chips(setup);
    for (const auto& card : kCards)
        if (card.stage == stage)
            card.add(setup, chips);
    return chips.take();
}

} // namespace mantissa
