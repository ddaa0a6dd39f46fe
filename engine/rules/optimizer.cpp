#include "engine/recipe/fields.h"
#include "engine/recipe/knobs.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

/// When the optimizer is made. Fabric's programs choose the order of their calls.
std::string setupOrder(const RuleContext& context)
{
    const Value& order = context.at(field::fabricSetupOrder);
    if (order.isSet())
        return order.asString();
    return context.at(field::optimizerMade).asString() == "before-sharding" ? "optimizer-before-module"
                                                                            : "joint";
}

bool keepsFlatParameters(const RuleContext& context)
{
    const Value& keep = context.at(field::fsdpUseOrigParams);
    return keep.isBool() && !keep.asBool();
}

bool isOnMeta(RuleContext& context)
{
    return context.fact(field::metaParameters.path, false,
                        "All parameters have storage when the optimizer is made.");
}

Fix moduleFirst()
{
    return changingFix("Make the optimizer after the module is set up",
                       {setTo(field::fabricSetupOrder.path, "module-then-optimizer")},
                       "model = fabric.setup_module(model)\n"
                       "optimizer = fabric.setup_optimizers(torch.optim.AdamW(model.parameters(), lr=lr))");
}

Fix withStorage()
{
    return changingFix(
        "Make the model with storage from the start", {setTo(field::metaParameters.path, false)},
        "Leave out init_module(empty_init=True) and torch.device(\"meta\"). Every rank then needs "
        "memory for the whole model until it is sharded.");
}

Fix keepOriginal()
{
    return changingFix("Keep the original parameters", {setTo(field::fsdpUseOrigParams.path, true)},
                       "Parameters stay addressable one by one, as views of the flat one.");
}

void jointOnMeta(RuleContext& context)
{
    if (readStrategy(context).family != StrategyFamily::Fsdp || setupOrder(context) != "joint"
        || !isOnMeta(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::fabricSetupOrder.path, field::metaParameters.path});
    finding.message =
        "Model and optimizer are set up in one call, and the optimizer holds parameters without storage.";
    finding.why =
        "Sharding gives the parameters their storage by putting new tensors in their place. The optimizer "
        "would go on updating the old ones, which are empty.";
    finding.source = inLightning("src/lightning/fabric/fabric.py, _validate_setup");
    finding.engine = "better: the optimizer is always made over the shards";
    finding.raises = "RuntimeError: The optimizer has references to the model's meta-device parameters. ...";
    finding.fixes = {moduleFirst(), withStorage()};
    context.report(std::move(finding));
}

void beforeModuleOnMeta(RuleContext& context)
{
    if (setupOrder(context) != "optimizer-before-module" || !isOnMeta(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::fabricSetupOrder.path, field::metaParameters.path});
    finding.message = "The optimizer is made before the module is set up, over parameters without storage.";
    finding.why =
        "Parameters on the meta device are replaced when the module gets its storage; an optimizer made "
        "before that would update nothing. This holds with any strategy.";
    finding.source = inLightning("src/lightning/fabric/fabric.py, _validate_setup_optimizers");
    finding.engine = "better: the optimizer is always made over the shards";
    finding.raises = "RuntimeError: The optimizer has references to the model's meta-device parameters. ...";
    finding.fixes = {moduleFirst(), withStorage()};
    context.report(std::move(finding));
}

void flatParametersTooEarly(RuleContext& context)
{
    const std::string order = setupOrder(context);
    if (readStrategy(context).family != StrategyFamily::Fsdp || !keepsFlatParameters(context)
        || order == "module-then-optimizer")
        return;
    const bool joint = order == "joint";
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::fsdpUseOrigParams.path, field::fabricSetupOrder.path});
    finding.message = joint
        ? "use_orig_params=false, and model and optimizer are set up in one call."
        : "use_orig_params=false, and the optimizer is made before the module is sharded.";
    finding.why =
        "Sharding melts the parameters of a unit into one flat parameter. With use_orig_params=false only "
        "the flat one is left, and an optimizer made earlier does not hold it.";
    finding.source = inLightning("src/lightning/fabric/strategies/fsdp.py, "
                                 + std::string(joint ? "setup_module_and_optimizers" : "setup_optimizer"));
    finding.engine = "better: the optimizer is always made over the shards";
    finding.raises = joint
        ? "ValueError: You set `FSDPStrategy(use_orig_params=False)` but this is only supported "
          "when the model and optimizer are set up separately ..."
        : "ValueError: The optimizer does not seem to reference any FSDP parameters. HINT: Make "
          "sure to create the optimizer after setting up the model.";
    finding.fixes = {moduleFirst(), keepOriginal()};
    context.report(std::move(finding));
}

void parametersOfSubmodule(RuleContext& context)
{
    if (readStrategy(context).family != StrategyFamily::Fsdp || !keepsFlatParameters(context)
        || !fits(context))
        return;
    const bool early = context.at(field::optimizerMade).asString() == "before-sharding";
    if (context.at(field::paramsSource).asString("self") != "self.layer" && !early)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {std::string(early ? field::optimizerMade.path : field::paramsSource.path),
                                 field::fsdpUseOrigParams.path});
    finding.message = early
        ? "use_orig_params=false, and the optimizer is made before the module is sharded."
        : "use_orig_params=false, and the optimizer is given the parameters of a submodule.";
    finding.why =
        "The flat parameter is registered on the wrapped module. A submodule that was melted into it has no "
        "parameters left, and an optimizer made earlier holds the old ones. parameters() of the "
        "whole module works.";
    finding.source = inLightning("src/lightning/pytorch/strategies/fsdp.py, setup_optimizers");
    finding.engine = "better: the optimizer is always made over the shards";
    finding.raises =
        "ValueError: The optimizer does not seem to reference any FSDP parameters. HINT: Make sure to "
        "create the optimizer after setting up the model by referencing "
        "`self.trainer.model.parameters()` in the `configure_optimizers()` hook.";
    const Edit source = early ? setTo(field::optimizerMade.path, "after-sharding")
                              : setTo(field::paramsSource.path, "trainer.model");
    finding.fixes = {
        changingFix(
            "Give it the parameters of the wrapped model", {source},
            "In configure_optimizers: torch.optim.AdamW(self.trainer.model.parameters(), lr=self.lr)"),
        keepOriginal(),
    };
    context.report(std::move(finding));
}

void metaWithoutReset(RuleContext& context)
{
    if (readStrategy(context).family != StrategyFamily::Fsdp || !isOnMeta(context))
        return;
    if (context.fact(field::resetParameters.path, true,
                     "Every module on the meta device has reset_parameters."))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::resetParameters.path, field::metaParameters.path});
    finding.message = "Parameters have no storage, and a module that holds some has no reset_parameters.";
    finding.why =
        "When FSDP gives parameters their storage it calls reset_parameters of the module that owns them, "
        "since nothing else knows their first values.";
    finding.source = inTorch("torch/distributed/fsdp/_init_utils.py, _materialize_meta_module");
    finding.engine = "better: weights are drawn from the seed before they are sharded";
    finding.raises = "AttributeError: '...' object has no attribute 'reset_parameters'";
    finding.fixes = {
        withStorage(),
        changingFix("Give the module the method", {setTo(field::resetParameters.path, true)},
                    "def reset_parameters(self):\n    torch.nn.init.normal_(self.weight, std=0.02)"),
    };
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"optimizer-joint-on-meta", kOfFabric, {"2.1"}, jointOnMeta},
    Rule{"optimizer-before-module-on-meta", kOfFabric, {"2.1"}, beforeModuleOnMeta},
    Rule{"optimizer-flat-parameters", kOfFabric, {"2.1"}, flatParametersTooEarly},
    Rule{"optimizer-of-submodule", kOfTrainer, {"2.0"}, parametersOfSubmodule},
    Rule{"meta-without-reset", kOfLightning, {"2.1"}, metaWithoutReset},
};

} // namespace

std::span<const Rule> optimizerRules()
{
    return kRules;
}

} // namespace mantissa
