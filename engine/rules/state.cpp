#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

std::string stateOf(const RuleContext& context)
{
    const Value& state = context.at(field::fabricState);
    if (state.isNull())
        return "null";
    if (!state.isSet() && context.at(field::severalFsdpModels).asBool())
        return "several-models";
    return state.asString("one-model");
}

std::string statePath(const RuleContext& context)
{
    return std::string(context.at(field::fabricState).isAbsent() ? field::severalFsdpModels.path
                                                                 : field::fabricState.path);
}

/// One model in the state, however it was said that there are others.
std::vector<Edit> oneModel(const RuleContext& context)
{
    if (context.at(field::fabricState).isAbsent())
        return {setTo(field::severalFsdpModels.path, false)};
    return {setTo(field::fabricState.path, "one-model")};
}

void severalModels(RuleContext& context)
{
    if (readStrategy(context).family != StrategyFamily::Fsdp || stateOf(context) != "several-models")
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Record, {statePath(context), field::strategy.path});
    finding.message = "The state to be saved or loaded holds several FSDP models; it may hold one.";
    finding.why =
        "A sharded checkpoint stores one tree of parameters by name. With two sharded models it would not "
        "be clear whose shard a file holds.";
    finding.source =
        inLightning("src/lightning/fabric/strategies/fsdp.py, save_checkpoint and load_checkpoint");
    finding.engine = "same";
    finding.raises =
        "ValueError: Found multiple FSDP models in the given state. Saving checkpoints with FSDP is "
        "currently limited to a single model per checkpoint. ...";
    finding.fixes = {
        changingFix("One file for each model", oneModel(context),
                    "fabric.save(folder / \"generator\", {\"model\": generator, \"optimizer\": "
                    "generator_optimizer})\n"
                    "fabric.save(folder / \"critic\", {\"model\": critic, \"optimizer\": critic_optimizer})"),
        changingFix(
            "Replicate instead of sharding", {setTo(field::strategy.path, "ddp")},
            "A replicated state may hold any number of models. Every rank then holds the whole model and "
            "the whole optimizer state."),
    };
    context.report(std::move(finding));
}

void noModel(RuleContext& context)
{
    const std::string state = stateOf(context);
    if (readStrategy(context).family != StrategyFamily::Fsdp)
        return;
    if (state != "no-model" && state != "bare-module" && state != "bare-optimizer" && state != "null")
        return;
    const bool optimizer = state == "bare-optimizer";
    Finding finding = findingAt(Severity::Stops, Stage::Record, {statePath(context), field::strategy.path});
    finding.message = optimizer ? "An optimizer alone is to be loaded; FSDP loads it with its model."
                                : "The state to be saved or loaded holds no FSDP model.";
    finding.why =
        "The shards are collected by the wrapped model. A model that was not returned by fabric.setup, or "
        "an optimizer without its model, has none.";
    finding.source =
        inLightning("src/lightning/fabric/strategies/fsdp.py, save_checkpoint and load_checkpoint");
    finding.engine = "same";
    finding.raises = optimizer
        ? "NotImplementedError: Loading a single optimizer object from a checkpoint is not "
          "supported yet with the FSDP strategy."
        : "ValueError: Could not find a FSDP model in the provided checkpoint state. ...";
    finding.fixes = {changingFix("Put the model that fabric.setup returned into the state", oneModel(context),
                                 "model, optimizer = fabric.setup(model, optimizer)\n"
                                 "fabric.save(path, {\"model\": model, \"optimizer\": optimizer})")};
    context.report(std::move(finding));
}

/// The Trainer saves by itself unless it is told not to; in Fabric the program saves, if it does.
bool saves(const RuleContext& context)
{
    if (context.onFabric())
        return true;
    return takesSteps(context) && context.at(field::enableCheckpointing).asBool(true)
        && !context.at(field::fastDevRun).asBool() && context.at(field::fastDevRun).asInteger() <= 0
        && !context.at(field::barebones).asBool();
}

void stateDictType(RuleContext& context)
{
    const Value& type = context.at(field::fsdpStateDictType);
    if (readStrategy(context).family != StrategyFamily::Fsdp || !type.isSet() || type == Value("full")
        || type == Value("sharded") || !saves(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Record, {field::fsdpStateDictType.path});
    finding.message = "state_dict_type=" + type.text() + " is neither full nor sharded.";
    finding.why = "The value is looked at when the first checkpoint is saved, after an epoch of training.";
    finding.source = inLightning("src/lightning/pytorch/strategies/fsdp.py, lightning_module_state_dict");
    finding.engine = "better: said before the start";
    finding.raises = "ValueError: Unknown state_dict_type: " + type.asString();
    finding.fixes = {
        changingFix("One file with everything", {setTo(field::fsdpStateDictType.path, "full")},
                    "Rank 0 collects the whole model in its memory for each save."),
        changingFix("One file for each rank", {setTo(field::fsdpStateDictType.path, "sharded")},
                    "The checkpoint is a folder, and loads under FSDP."),
    };
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"state-several-fsdp-models", kOfFabric, {"2.0"}, severalModels},
    Rule{"state-no-fsdp-model", kOfFabric, {"2.0"}, noModel},
    Rule{"state-dict-type", kOfLightning, {"2.0"}, stateDictType},
};

} // namespace

std::span<const Rule> stateRules()
{
    return kRules;
}

} // namespace mantissa
