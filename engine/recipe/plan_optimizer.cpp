#include "engine/core/listed.h"
#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"
#include "engine/recipe/training_classes.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

OptimizerImpl implementation(PlanReader& reader)
{
    const bool fused = reader.flag(field::fused);
    const bool foreach = reader.flag(field::foreach);
    if (fused && foreach)
        reader.fail("The optimizer is both fused and foreach, which torch refuses.", "Keep one of the two.");
    if (fused)
        return OptimizerImpl::Fused;
    return foreach ? OptimizerImpl::Foreach
                   : OptimizerImpl::ForLoop; // torch loops on the CPU where nothing is said.
}

} // namespace

void planBetas(PlanReader& reader, const Field& field, OptimizerPlan& optimizer)
{
    const auto betas = settingIn(reader.setup(), field);
    const auto& list = betas.asList();
    const auto isShare = [](const Value& v) {
        return v.isNumber() && v.asDouble() >= 0.0 && v.asDouble() < 1.0;
    };
    if (list.size() != 2 || !std::all_of(list.begin(), list.end(), isShare)) {
        reader.fail(std::string(field.path) + " is " + betas.text() + ".",
                    "It is two numbers from 0 up to 1, such as [0.9, 0.999].");
        return;
    }
    optimizer.beta1 = list[0].asDouble();
    optimizer.beta2 = list[1].asDouble();
}

namespace {

void planMomentum(PlanReader& reader, OptimizerPlan& optimizer)
{
    optimizer.momentum = reader.number(field::momentum);
    optimizer.dampening = reader.number(field::dampening);
    optimizer.nesterov = reader.flag(field::nesterov);
    if (optimizer.nesterov && (optimizer.momentum <= 0.0 || optimizer.dampening != 0.0))
        reader.fail("Nesterov needs momentum, and no dampening.",
                    "Set momentum above 0 and remove dampening, or remove nesterov.");
    if (optimizer.kind != OptimizerKind::Sgd8bit)
        return;
    if (optimizer.momentum <= 0.0)
        reader.fail("SGD8bit has no momentum, and momentum is all that it keeps in 8 bits.",
                    "Set optimizer.init_args.momentum above 0, or use torch.optim.SGD.");
    if (optimizer.dampening != 0.0 || optimizer.nesterov)
        reader.fail("SGD8bit takes neither dampening nor nesterov: its kernel has only plain momentum.",
                    "Remove them, or use torch.optim.SGD.");
}

void planRmsProp(PlanReader& reader, OptimizerPlan& optimizer)
{
    optimizer.alpha = reader.number(field::alpha);
    optimizer.centered = reader.flag(field::centered);
    optimizer.momentum = reader.number(field::momentum);
}

void planAdagrad(PlanReader& reader, OptimizerPlan& optimizer)
{
    optimizer.lrDecay = reader.number(field::lrDecay);
    optimizer.initialAccumulator = reader.number(field::initialAccumulator);
}

void planLbfgs(PlanReader& reader, RunPlan& plan)
{
    auto& lbfgs = plan.optimizer.lbfgs;
    lbfgs.maxIterations = reader.integer(field::lbfgsMaxIter);
    lbfgs.maxEvaluations = reader.integer(field::lbfgsMaxEval, lbfgs.maxIterations * 5 / 4);
    lbfgs.toleranceGradient = reader.number(field::lbfgsToleranceGrad);
    lbfgs.toleranceChange = reader.number(field::lbfgsToleranceChange);
    lbfgs.historySize = reader.integer(field::lbfgsHistorySize);
    const auto search = reader.word(field::lbfgsLineSearch);
    lbfgs.strongWolfe = search == "strong_wolfe";
    if (!search.empty() && !lbfgs.strongWolfe)
        reader.cannot(field::lbfgsLineSearch.path, Value(search),
                      "LBFGS searches with strong_wolfe, or not.");
    if (plan.scaler.enabled)
        reader.fail("LBFGS evaluates the loss several times in a step, and a loss scale allows one: "
                        + precisionName(reader.setup()) + " and LBFGS do not go together.",
                    "Train in bf16-mixed or 32-true, or with another optimizer.");
}

void planEightBit(PlanReader& reader, OptimizerPlan& optimizer)
{
    optimizer.min8bitSize = reader.integer(field::min8bitSize);
    if (optimizer.amsgrad)
        reader.fail("An 8-bit optimizer keeps no largest moments: amsgrad is true.",
                    "Remove amsgrad, or use torch.optim.AdamW.");
    if (reader.integer(field::optimizerBits) != 32)
        reader.cannot(field::optimizerBits.path, reader.setup()[field::optimizerBits],
                      "The name of the class says 8 bits; bitsandbytes takes only the default of 32 here.");
    if (reader.flag(field::pagedStates))
        reader.cannot(field::pagedStates.path, true, "States are in main memory here: remove it.");
}

/// What each class has beside rate and weight decay.
void planOwnSettings(PlanReader& reader, RunPlan& plan)
{
    auto& optimizer = plan.optimizer;
    switch (optimizer.kind) {
    case OptimizerKind::Sgd:
    case OptimizerKind::Sgd8bit:
        planMomentum(reader, optimizer);
        break;
    case OptimizerKind::Adagrad:
        planAdagrad(reader, optimizer);
        break;
    case OptimizerKind::RmsProp:
        planRmsProp(reader, optimizer);
        break;
    case OptimizerKind::Lbfgs:
        planLbfgs(reader, plan);
        break;
    default:
        planBetas(reader, field::betas, optimizer);
    }
    if (optimizer.kind == OptimizerKind::Adam && reader.flag(field::decoupledWeightDecay))
        optimizer.kind = OptimizerKind::AdamW;
    if (optimizer.hasEightBitState())
        planEightBit(reader, optimizer);
    for (const auto* field : {&field::capturable, &field::differentiable})
        if (reader.flag(*field))
            reader.cannot(field->path, true, "Remove it to train here.");
}

void planGroup(PlanReader& reader, const Value& written, OptimizerPlan& optimizer)
{
    GroupPlan group{written["params"].asString(), {}, {}};
    bool sound = written.isMap() && !group.parameters.empty();
    for (const auto& [key, value] : written.asMap()) {
        const bool number = value.isNumber() && value.asDouble() >= 0.0;
        if (key == "lr" && number)
            group.learningRate = value.asDouble();
        else if (key == "weight_decay" && number)
            group.weightDecay = value.asDouble();
        else if (key != "params")
            sound = false;
    }
    if (!sound)
        reader.fail("mantissa.parameter_groups has " + written.text() + ".",
                    "A group is {params: pattern, lr: number, weight_decay: number}, such as {params: "
                    "\"blocks.0.*\", lr: 0.0001}.");
    optimizer.groups.push_back(std::move(group));
}

/// Settings of the update that are no arguments of a class.
void planUpdate(PlanReader& reader, OptimizerPlan& optimizer)
{
    const auto quantizer = reader.word(field::quantizer);
    optimizer.quantizer = quantizer == "bnb-cpu" ? Quantizer::Bins : Quantizer::Nearest;
    if (quantizer != "nearest" && quantizer != "bnb-cpu")
        reader.cannot(field::quantizer.path, Value(quantizer),
                      "8-bit states are rounded nearest or bnb-cpu.");
    const auto decayed = reader.word(field::decayed);
    optimizer.decayMatricesOnly = decayed == "matrices";
    if (decayed != "all" && decayed != "matrices")
        reader.cannot(field::decayed.path, Value(decayed),
                      "Weight decay is on all parameters, or on matrices.");
    const auto groups = reader.setup().effective(field::parameterGroups);
    if (!groups.isList())
        reader.fail("mantissa.parameter_groups is " + groups.text() + ", and should be a list.",
                    "Write a list of {params, lr, weight_decay}.");
    for (const auto& group : groups.asList())
        planGroup(reader, group, optimizer);
    if (optimizer.kind == OptimizerKind::Lbfgs && (!optimizer.groups.empty() || optimizer.decayMatricesOnly))
        reader.fail("LBFGS takes all parameters as one, and there are parameter groups.",
                    "Remove mantissa.parameter_groups and mantissa.weight_decay_on.");
}

/// The first steps of Adam multiply the rate by ten, and the largest fp32 is 3.4e38.
constexpr double kLargestRate = 1e37;

std::string listedClasses()
{
    return listed(optimizerClasses(), [](const OptimizerClass& entry) {
        return std::string(entry.package) + std::string(entry.name);
    });
}

} // namespace

void refuseUnknownArguments(PlanReader& reader, const std::string& section)
{
    const auto known = argumentNames(reader.setup(), section);
    if (!known)
        return;
    for (const auto& [key, value] : reader.setup().at(section + ".init_args").asMap()) {
        if (isHarmlessArgument(key, value) || std::find(known->begin(), known->end(), key) != known->end())
            continue;
        const auto path = reader.setup().at(section + ".class_path").asString();
        reader.fail(std::string(shortClassName(path)) + " has no argument " + key + ".",
                    "Remove " + section + ".init_args." + key + ". It takes " + listed(*known) + ".");
    }
}

void planOptimizer(PlanReader& reader, RunPlan& plan)
{
    if (bringsOptimizers(reader.setup()))
        return planOwnOptimizers(reader, plan);
    const auto& written = reader.setup()[field::optimizerClass];
    if (!written.isSet()) {
        reader.fail("The set-up names no optimizer.",
                    "Set optimizer.class_path to torch.optim.AdamW, for example.");
        return;
    }
    const auto* found = optimizerClass(written.asString());
    if (!found) {
        reader.cannot(field::optimizerClass.path, written, "It has " + listedClasses() + ".");
        return;
    }
    auto& optimizer = plan.optimizer;
    optimizer.kind = found->kind;
    optimizer.impl = implementation(reader);
    optimizer.learningRate = reader.number(field::learningRate);
    if (optimizer.learningRate > kLargestRate && plan.precision != PrecisionMode::Fp64True)
        reader.cannot(field::learningRate.path, reader.setup()[field::learningRate],
                      "An update by so large a rate is beyond what fp32 holds. Rates are mostly below 1.");
    optimizer.eps = reader.number(field::eps);
    optimizer.weightDecay = reader.number(field::weightDecay);
    optimizer.amsgrad = reader.flag(field::amsgrad);
    optimizer.maximize = reader.flag(field::maximize);
    refuseUnknownArguments(reader, "optimizer");
    planOwnSettings(reader, plan);
    planUpdate(reader, optimizer);
}

} // namespace mantissa
