#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

#include <array>

namespace mantissa {

namespace {

/// Settings of the one optimizer that automatic optimization has.
constexpr std::array kOfOne = {&field::parameterGroups, &field::decayed, &field::quantizer};

void refuseSections(PlanReader& reader)
{
    for (const std::string section : {"optimizer", "lr_scheduler"})
        if (reader.setup().has(section))
            reader.fail("mantissa.GAN brings its two optimizers along, and the set-up has a section "
                            + section + " for another.",
                        "Remove " + section + ". Rates and betas are arguments of the model.");
    for (const auto* field : kOfOne)
        if (reader.setup()[*field].isSet())
            reader.fail(std::string(field->path)
                            + " is about the optimizer of the set-up, and mantissa.GAN brings its own.",
                        "Remove it.");
}

/// Each pass leaves the weights of the other network without a gradient.
void planUnused(PlanReader& reader, RunPlan& plan)
{
    plan.ddp.findUnused = true;
    if (plan.ddp.staticGraph)
        reader.fail(
            "static_graph promises the same graph in every pass, and the two optimizers of mantissa.GAN "
            "take turns with two graphs.",
            "Remove static_graph.");
}

void checkManualFacts(PlanReader& reader)
{
    const auto& setup = reader.setup();
    const auto& automatic = setup[field::automaticOptimization];
    if (automatic.isSet() && automatic.asBool(true))
        reader.fail(std::string(field::automaticOptimization.path) + " is " + automatic.text()
                        + ", and mantissa.GAN calls backward and step of its two optimizers itself.",
                    "Remove the fact: it follows from the model.");
    const auto& count = setup[field::numOptimizers];
    if (count.isSet() && count.asInteger() != 2)
        reader.fail(std::string(field::numOptimizers.path) + " is " + count.text()
                        + ", and mantissa.GAN has two.",
                    "Remove the fact: it follows from the model.");
}

/// What belongs to the loop of automatic optimization.
void checkLoop(PlanReader& reader, const RunPlan& plan)
{
    const auto& setup = reader.setup();
    if (plan.clip.kind != ClipKind::None && clipAsked(setup).path == field::clipValue.path)
        reader.fail("trainer.gradient_clip_val is " + setup[field::clipValue].text()
                        + ", and mantissa.GAN optimizes manually, where the flag has no place.",
                    "Remove it.");
    if (accumulationAsked(setup) != std::map<std::int64_t, std::int64_t>{{0, 1}})
        reader.fail("Accumulation is set, and mantissa.GAN optimizes manually: it takes its own steps.",
                    "Remove it; model.init_args.discriminator_steps says how many batches make a step.");
}

void checkCompany(PlanReader& reader, const RunPlan& plan)
{
    if (plan.validation.wanted())
        reader.fail("Samples are kept back for validation, and mantissa.GAN has no validation step.",
                    "Remove data.init_args.val_split and val_test.");
    for (const auto& callback : plan.callbacks) {
        if (std::holds_alternative<SwaPlan>(callback)
            || std::holds_alternative<LearningRateMonitorPlan>(callback))
            reader.fail(std::string(callbackName(callback))
                            + " follows one optimizer, and mantissa.GAN has two.",
                        "Remove it.");
    }
}

} // namespace

void planOwnOptimizers(PlanReader& reader, RunPlan& plan)
{
    refuseSections(reader);
    OptimizerPlan adam;
    adam.kind = OptimizerKind::Adam;
    adam.impl = OptimizerImpl::ForLoop; // as torch on the CPU, where nothing is said
    planBetas(reader, field::ganBetas, adam);
    plan.ownOptimizers = {{"discriminator", "d", adam}, {"generator", "g", adam}};
    plan.ownOptimizers[0].plan.learningRate = reader.number(field::lrDiscriminator);
    plan.ownOptimizers[1].plan.learningRate = reader.number(field::lrGenerator);
    plan.optimizer = plan.ownOptimizers.front().plan;
    planUnused(reader, plan);
}

void checkManual(PlanReader& reader, const RunPlan& plan)
{
    if (plan.ownOptimizers.empty())
        return;
    checkManualFacts(reader);
    checkLoop(reader, plan);
    checkCompany(reader, plan);
}

} // namespace mantissa
