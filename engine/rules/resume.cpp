#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kCheckpoints =
    "src/lightning/pytorch/trainer/connectors/checkpoint_connector.py, _parse_ckpt_path";

std::string factPath(std::string_view name)
{
    return "mantissa.facts." + std::string(name);
}

std::string entryPoint(const RuleContext& context)
{
    return context.at(field::runFn).asString("fit");
}

/// The path that a call reads its weights from: "best" where an earlier run's model is used again.
std::string checkpointAsked(const RuleContext& context)
{
    const Value& path = context.at(field::runCkptPath);
    if (path.isSet())
        return path.asString();
    const bool again = factAt(context, "run.model").asString() == "none"
        && factAt(context, "run.before_fit").asBool() && entryPoint(context) != "fit";
    return again ? "best" : "";
}

bool lists(const RuleContext& context, std::string_view callback)
{
    return !listEntry(context.at(field::callbacks), callback).isAbsent();
}

/// Listed, or added by the Trainer where no other callback saves.
bool hasModelCheckpoint(const RuleContext& context)
{
    if (lists(context, "ModelCheckpoint"))
        return true;
    return context.at(field::enableCheckpointing).asBool(true) && !context.at(field::barebones).asBool()
        && !lists(context, "OnExceptionCheckpoint");
}

bool savesNothing(const RuleContext& context)
{
    const Value& checkpoint = listEntry(context.at(field::callbacks), "ModelCheckpoint");
    const Value& most = checkpoint["init_args"]["save_top_k"];
    return most.isInteger() && most.asInteger() == 0;
}

void reportBest(RuleContext& context, std::string message, std::string why, std::string raises, Fix fix)
{
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::runCkptPath.path, fix.edits.front().path});
    finding.message = std::move(message);
    finding.why = std::move(why);
    finding.source = inLightning(std::string(kCheckpoints));
    finding.engine = "cannot";
    finding.raises = std::move(raises);
    finding.fixes.push_back(std::move(fix));
    if (factAt(context, "run.model").asString() != "none")
        finding.fixes.push_back(changingFix("Do not load anything", {unset(field::runCkptPath.path)}));
    finding.fixes.push_back(
        manualFix("Name the file", "trainer." + entryPoint(context) + "(..., ckpt_path=\"runs/last.ckpt\")"));
    context.report(std::move(finding));
}

void bestWithoutCallback(RuleContext& context)
{
    if (checkpointAsked(context) != "best" || hasModelCheckpoint(context)
        || lists(context, "OnExceptionCheckpoint") || !isCalled(context))
        return;
    reportBest(context,
               "The best checkpoint is to be loaded, and nothing chooses one: there is no ModelCheckpoint.",
               "Which checkpoint is the best is known to the callback that has saved it.",
               "ValueError: `." + entryPoint(context)
                   + "(ckpt_path=\"best\")` is set but `ModelCheckpoint` is not configured.",
               changingFix("Let the Trainer save checkpoints", {unset(field::enableCheckpointing.path)}));
}

void bestInFastRun(RuleContext& context)
{
    if (checkpointAsked(context) != "best" || !isFastDevRun(context) || !hasModelCheckpoint(context)
        || !isCalled(context))
        return;
    const std::string call = "." + entryPoint(context) + "(ckpt_path=\"best\")";
    reportBest(context, "The best checkpoint is to be loaded, and fast_dev_run saves none.",
               "A run that only tries the code leaves no files behind.",
               "ValueError: You cannot execute `" + call + "` with `fast_dev_run=True`.",
               changingFix("Run in full", {unset(field::fastDevRun.path)}));
}

void bestNotSaved(RuleContext& context)
{
    const bool fitBefore = factAt(context, "run.before_fit").asBool();
    if (checkpointAsked(context) != "best" || isFastDevRun(context) || !hasModelCheckpoint(context)
        || (fitBefore && !savesNothing(context)) || !isCalled(context))
        return;
    reportBest(
        context,
        fitBefore ? "The best checkpoint is to be loaded, and save_top_k=0 saves none."
                  : "The best checkpoint is to be loaded, and this Trainer has not saved any yet.",
        "The callback remembers the best of its own run, not of runs before it.",
        "ValueError: `." + entryPoint(context)
            + "(ckpt_path=\"best\")` is set but `ModelCheckpoint` is not configured to save the best model.",
        fitBefore
            ? changingFix("Save the best one", {setTo("trainer.callbacks[ModelCheckpoint].save_top_k", 1)})
            : changingFix("Take the last checkpoint of the folder, if there is one",
                          {setTo(field::runCkptPath.path, "last")}));
}

void bestOfOther(RuleContext& context)
{
    if (checkpointAsked(context) != "best" || !lists(context, "OnExceptionCheckpoint")
        || lists(context, "ModelCheckpoint") || !isCalled(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::runCkptPath.path, "trainer.callbacks[OnExceptionCheckpoint]"});
    finding.message =
        "The best checkpoint is to be loaded, and OnExceptionCheckpoint, which is asked for it, knows none.";
    finding.why = "It counts as a checkpoint callback, so no ModelCheckpoint is added beside it; but it "
                  "saves only when "
                  "a run fails.";
    finding.source = inLightning(std::string(kCheckpoints));
    finding.engine = "cannot";
    finding.raises = "AttributeError: 'OnExceptionCheckpoint' object has no attribute 'best_model_path'";
    finding.fixes = {changingFix("Do not load anything", {unset(field::runCkptPath.path)}),
                     manualFix("Name the file", "trainer.fit(model, ckpt_path=\"runs/last.ckpt\")")};
    context.report(std::move(finding));
}

void emptyPath(RuleContext& context)
{
    const Value& path = context.at(field::runCkptPath);
    if (!path.isString() || !path.asString().empty() || !isCalled(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {field::runCkptPath.path});
    finding.message = "ckpt_path is an empty text.";
    finding.why = "Nothing is said by null; an empty path is taken for one that was meant and got lost.";
    finding.source = inLightning(std::string(kCheckpoints));
    finding.engine = "cannot";
    finding.raises = "ValueError: `." + entryPoint(context) + "()` found no path for the best weights: ''.";
    finding.fixes = {safeFix("Load nothing", {unset(field::runCkptPath.path)})};
    context.report(std::move(finding));
}

void hpcMissing(RuleContext& context)
{
    if (checkpointAsked(context) != "hpc" || !isCalled(context)
        || context.fact(factPath("run.hpc_checkpoint"), false,
                        "No checkpoint of a requeued job (hpc_ckpt_1.ckpt) lies in default_root_dir."))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {field::runCkptPath.path});
    finding.message = "ckpt_path is \"hpc\", and no job before this one has left a checkpoint.";
    finding.why =
        "SLURM's requeue writes hpc_ckpt_1.ckpt and so on into default_root_dir. Such a file is loaded "
        "without being asked for; asking makes its absence an error.";
    finding.source = inLightning(std::string(kCheckpoints));
    finding.engine = "cannot";
    finding.raises = "ValueError: `." + entryPoint(context)
        + "(ckpt_path=\"hpc\")` is set but no HPC checkpoint was found.";
    finding.fixes = {safeFix("Leave it to the target", {unset(field::runCkptPath.path)})};
    context.report(std::move(finding));
}

void registryMissing(RuleContext& context)
{
    const std::string path = checkpointAsked(context);
    if (!path.starts_with("registry") || !isCalled(context) || hasPackage(context, "litmodels"))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::runCkptPath.path, field::envPackages.path});
    finding.message =
        "ckpt_path=" + path + " is an address of the model registry, and the target has no litmodels.";
    finding.why = "Without the package the address is taken for the name of a file.";
    finding.source = inLightning(std::string(kCheckpoints));
    finding.engine = "cannot";
    finding.raises = "FileNotFoundError: Checkpoint file not found: " + path;
    finding.fixes = {changingFix("Do not load anything", {unset(field::runCkptPath.path)}),
                     manualFix("Install it on the target", "pip install litmodels")};
    context.report(std::move(finding));
}

void weightsAlone(RuleContext& context)
{
    if (context.at(field::runCkptPath).asString() != "file:weights-only" || !fits(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {field::runCkptPath.path});
    finding.message = "fit is to go on from a checkpoint that holds weights alone.";
    finding.why = "Going on needs the optimizer's state as well; ModelCheckpoint(save_weights_only=True) "
                  "leaves it out.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/checkpoint_connector.py, "
                                 "restore_optimizers_and_schedulers");
    finding.engine = "same";
    finding.raises = "KeyError: 'Trying to restore optimizer state but checkpoint contains only the model.";
    finding.fixes = {manualFix("Start anew from the weights",
                               "model = MyModule.load_from_checkpoint(path)\ntrainer.fit(model)"),
                     changingFix("Start anew without them", {unset(field::runCkptPath.path)})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"ckpt-best-no-callback", kOfTrainer, {"2.0"}, bestWithoutCallback},
    Rule{"ckpt-best-fast-dev-run", kOfTrainer, {"2.0"}, bestInFastRun},
    Rule{"ckpt-best-not-saved", kOfTrainer, {"2.0"}, bestNotSaved},
    Rule{"ckpt-best-of-exception", kOfTrainer, {"2.6"}, bestOfOther},
    Rule{"ckpt-empty", kOfTrainer, {"2.0"}, emptyPath},
    Rule{"ckpt-hpc", kOfTrainer, {"2.0"}, hpcMissing},
    Rule{"ckpt-registry", kOfTrainer, {"2.5"}, registryMissing},
    Rule{"ckpt-weights-alone", kOfTrainer, {"2.0"}, weightsAlone},
};

} // namespace

std::span<const Rule> resumeRules()
{
    return kRules;
}

} // namespace mantissa
