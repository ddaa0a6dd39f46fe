#include "ui/models/palette_block.h"

#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/path.h"
#include "engine/recipe/run_plan.h"
#include "engine/rules/check.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mantissa::ui {
namespace {

Edit set(std::string_view path, Value value)
{
    return {EditOp::Set, std::string(path), std::move(value)};
}

Edit unset(std::string_view path)
{
    return {EditOp::Unset, std::string(path), {}};
}

std::string precisionDtype(std::string_view precision)
{
    if (precision.starts_with("bf16"))
        return "bf16";
    if (precision.starts_with("16"))
        return "fp16";
    if (precision.starts_with("32"))
        return "fp32";
    return precision.starts_with("transformer") ? "fp8" : "int";
}

PaletteGroup precisions()
{
    PaletteGroup group{"Precision", {}};
    for (const auto choice : field::precision.choices)
        group.blocks.push_back(
            {std::string(choice), precisionDtype(choice), {set(field::precision.path, choice)}, {}});
    return group;
}

PaletteGroup strategies()
{
    PaletteGroup group{"Strategy", {}};
    for (const auto choice : field::strategy.choices)
        group.blocks.push_back({std::string(choice), {}, {set(field::strategy.path, choice)}, {}});
    return group;
}

/// Settings of `init_args` that a class does not know leave with the class before it.
struct ClassArguments {
    std::string_view section;
    std::string_view argument;
    std::string_view classes; ///< Short names, each between spaces.
};

constexpr std::array kArguments = {
    ClassArguments{"optimizer", "betas", " Adam AdamW AdamW8bit "},
    ClassArguments{"optimizer", "amsgrad", " Adam AdamW "},
    ClassArguments{"optimizer", "eps", " Adam AdamW AdamW8bit Adagrad RMSprop "},
    ClassArguments{"optimizer", "momentum", " SGD RMSprop "},
    ClassArguments{"optimizer", "dampening", " SGD "},
    ClassArguments{"optimizer", "nesterov", " SGD "},
    ClassArguments{"optimizer", "fused", " Adam AdamW SGD Adagrad "},
    ClassArguments{"optimizer", "weight_decay", " Adam AdamW AdamW8bit SGD Adagrad RMSprop "},
    ClassArguments{"lr_scheduler", "warmup", " WarmupCosine "},
    ClassArguments{"lr_scheduler", "total", " WarmupCosine "},
    ClassArguments{"lr_scheduler", "min_ratio", " WarmupCosine "},
    ClassArguments{"lr_scheduler", "step_size", " StepLR "},
    ClassArguments{"lr_scheduler", "gamma", " StepLR "},
};

std::vector<Edit> classEdits(const Setup& setup, const Field& field, std::string_view choice)
{
    const auto section = field.path.substr(0, field.path.find('.'));
    std::vector<Edit> edits{set(field.path, choice)};
    const auto name = " " + std::string(shortClassName(choice)) + " ";
    for (const auto& argument : kArguments) {
        const auto path = std::string(section) + ".init_args." + std::string(argument.argument);
        if (argument.section == section && argument.classes.find(name) == std::string_view::npos
            && setup.has(path))
            edits.push_back(unset(path));
    }
    return edits;
}

PaletteGroup classes(const Setup& setup, std::string title, const Field& field)
{
    PaletteGroup group{std::move(title), {}};
    for (const auto choice : field.choices) {
        auto edits = classEdits(setup, field, choice);
        // What a StepLR or a WarmupCosine cannot do without.
        if (choice.ends_with("StepLR") && !setup.has("lr_scheduler.init_args.step_size"))
            edits.push_back(set("lr_scheduler.init_args.step_size", 1));
        if (choice.ends_with("WarmupCosine") && !setup.has("lr_scheduler.init_args.total"))
            edits.push_back(set("lr_scheduler.init_args.total", 1000));
        group.blocks.push_back({std::string(shortClassName(choice)), {}, std::move(edits), {}});
    }
    return group;
}

PaletteGroup schedules(const Setup& setup)
{
    auto group = classes(setup, "Schedule", field::scheduleClass);
    group.blocks.insert(group.blocks.begin(), PaletteBlock{"constant", {}, {unset("lr_scheduler")}, {}});
    return group;
}

PaletteGroup models(const Setup& setup)
{
    PaletteGroup group{"Model", {}};
    for (const auto choice : field::modelClass.choices) {
        std::vector<Edit> edits;
        if (setup.at(field::modelClass.path).asString() != choice) // Another network has other arguments.
            edits = {unset("model.init_args"), set(field::modelClass.path, choice)};
        else
            edits = {set(field::modelClass.path, choice)};
        group.blocks.push_back({std::string(shortClassName(choice)), {}, std::move(edits), {}});
    }
    return group;
}

PaletteGroup datas(const Setup& setup)
{
    PaletteGroup group{"Data", {}};
    constexpr std::array own = {"folder",  "file",      "context",          "shape", "inputs", "classes",
                                "samples", "init_file", "batches_per_epoch"};
    for (const auto choice : field::dataClass.choices) {
        std::vector<Edit> edits{set(field::dataClass.path, choice)};
        if (setup.at(field::dataClass.path).asString() != choice)
            for (const auto* argument : own)
                if (const auto path = std::string("data.init_args.") + argument; setup.has(path))
                    edits.push_back(unset(path));
        group.blocks.push_back({std::string(shortClassName(choice)), {}, std::move(edits), {}});
    }
    return group;
}

PaletteGroup clippings(const Target& target)
{
    PaletteGroup group{"Clipping", {}};
    if (target.framework == Framework::Fabric) {
        group.blocks = {
            {"none",
             {},
             {unset(field::fabricMaxNorm.path), unset(field::fabricClipValue.path),
              unset(field::clipValue.path)},
             {}},
            {"norm 1.0", {}, {set(field::fabricMaxNorm.path, 1.0), unset(field::fabricClipValue.path)}, {}},
            {"value 0.5", {}, {set(field::fabricClipValue.path, 0.5), unset(field::fabricMaxNorm.path)}, {}},
        };
        return group;
    }
    group.blocks = {
        {"none", {}, {unset(field::clipValue.path), unset(field::clipAlgorithm.path)}, {}},
        {"norm 1.0", {}, {set(field::clipValue.path, 1.0), set(field::clipAlgorithm.path, "norm")}, {}},
        {"value 0.5", {}, {set(field::clipValue.path, 0.5), set(field::clipAlgorithm.path, "value")}, {}},
    };
    return group;
}

PaletteGroup accumulations()
{
    PaletteGroup group{"Accumulation", {}};
    for (const int count : {1, 2, 4, 8})
        group.blocks.push_back(
            {std::to_string(count),
             {},
             {count == 1 ? unset(field::accumulate.path) : set(field::accumulate.path, count)},
             {}});
    group.blocks.push_back({"by epoch",
                            {},
                            {set(field::accumulationSchedule.path, ValueMap{{"0", 1}, {"4", 2}})},
                            {{EditOp::Remove, "trainer.callbacks[GradientAccumulationScheduler]", {}}}});
    return group;
}

PaletteGroup callbacks()
{
    constexpr std::array names = {
        "ModelCheckpoint",    "LearningRateMonitor", "EarlyStopping", "StochasticWeightAveraging",
        "EMAWeightAveraging", "DeviceStatsMonitor",  "Timer"};
    PaletteGroup group{"Callbacks", {}};
    for (const auto* name : names) {
        const Value entry(ValueMap{{"class_path", Value(fullClassPath("callbacks", name))}});
        group.blocks.push_back({name,
                                {},
                                {{EditOp::Append, "trainer.callbacks", entry}},
                                {{EditOp::Remove, std::string("trainer.callbacks[") + name + "]", {}}}});
    }
    return group;
}

bool hasBlock(const PaletteBlock& block, const Setup& setup, const Setup& after)
{
    if (!block.removal.empty())
        return setup.has(block.removal.front().path);
    return setup == after;
}

const Finding* newError(const std::vector<Finding>& before, const std::vector<Finding>& after)
{
    for (const auto& finding : after) {
        const auto same = [&](const Finding& old) { return old.rule == finding.rule; };
        if (isError(finding.severity) && std::none_of(before.begin(), before.end(), same))
            return &finding;
    }
    return nullptr;
}

} // namespace

std::vector<PaletteGroup> paletteGroups(const Setup& setup)
{
    const auto target = targetOf(setup);
    return {precisions(),
            strategies(),
            classes(setup, "Optimizer", field::optimizerClass),
            schedules(setup),
            clippings(target ? *target : shippedTargets().front()),
            accumulations(),
            callbacks(),
            models(setup),
            datas(setup)};
}

BlockVerdict judgeBlock(const PaletteBlock& block, const Setup& setup, const Target& target)
{
    BlockVerdict verdict;
    const auto after = applyEdits(setup, block.edits);
    if (!after)
        return verdict;
    verdict.on = hasBlock(block, setup, *after);
    const auto now = findings(*after, target);
    const auto before = verdict.on ? std::vector<Finding>{} : findings(setup, target);
    if (const auto* refused = newError(before, now); refused && !verdict.on) {
        verdict.sign = BlockVerdict::Sign::Refused;
        verdict.title = block.name + " is refused by the target";
        verdict.why = refused->message + (refused->why.empty() ? "" : " " + refused->why);
        verdict.source =
            refused->source.project + " " + refused->source.version + " " + refused->source.where;
        for (const auto& fix : refused->fixes) {
            if (fix.edits.empty())
                continue;
            // A fix that only takes the block back out is no way to have it.
            const auto made = applyEdits(*after, fix.edits);
            if (!made || newError(before, findings(*made, target)))
                continue;
            const auto again = applyEdits(*made, block.edits);
            if (!again || !(*again == *made))
                continue;
            verdict.wayOut = block.edits;
            verdict.wayOut.insert(verdict.wayOut.end(), fix.edits.begin(), fix.edits.end());
            verdict.wayOutTitle = fix.title;
            break;
        }
        return verdict;
    }
    if (const auto plan = planRun(*after); !plan && (verdict.on || planRun(setup))) {
        verdict.sign = BlockVerdict::Sign::CheckedOnly;
        verdict.title = block.name + ": checked only";
        verdict.why = plan.error().message + (plan.error().hint.empty() ? "" : " " + plan.error().hint);
    }
    return verdict;
}

} // namespace mantissa::ui
