#include "ui/models/palette_block.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/flow_value.h"
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
    if (precision.starts_with("64"))
        return "fp64";
    return precision.starts_with("transformer") || precision.starts_with("fp8") ? "fp8" : "int";
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

std::string_view sectionOf(const Field& field)
{
    return field.path.substr(0, field.path.find('.'));
}

/// A model that brings its own optimizers leaves no place for another, and any other model needs one.
void addCompany(std::vector<Edit>& edits, const Setup& setup, const Field& chooser, std::string_view choice)
{
    if (chooser.path != field::modelClass.path)
        return;
    const auto chosen = applyEdits(setup, {set(chooser.path, choice)});
    const bool brings = chosen && bringsOptimizers(*chosen);
    for (const auto* section : {"optimizer", "lr_scheduler"})
        if (brings && setup.has(section))
            edits.push_back(unset(section));
    if (!brings && bringsOptimizers(setup))
        edits.push_back(set(field::optimizerClass.path, field::kOptimizerClassChoices.front()));
}

/// Arguments of `init_args` that a class does not know leave with the class before it; those that it cannot
/// do without come with it.
std::vector<Edit> classEdits(const Setup& setup, const Field& chooser, std::string_view choice)
{
    std::vector<Edit> edits{set(chooser.path, choice)};
    const auto arguments = std::string(sectionOf(chooser)) + ".init_args";
    if (choice.starts_with("mantissa."))
        for (const auto& [name, value] : setup.at(arguments).asMap())
            if (const auto path = joinPath(arguments, name); !fieldAt(path))
                edits.push_back(unset(path));
    std::vector<Edit> needed;
    for (const auto* field : allFields()) {
        if (field->classes.empty() || sectionOf(*field) != sectionOf(chooser))
            continue;
        const bool taken = field->isTakenBy(shortClassName(choice));
        const bool written = setup.has(std::string(field->path));
        if (written && !taken)
            edits.push_back(unset(field->path));
        else if (!written && field->isNeededBy(shortClassName(choice)))
            needed.push_back(set(field->path, readFlowValue(std::string(field->whenChosen))));
    }
    addCompany(edits, setup, chooser, choice);
    if (needed.empty())
        return edits;
    const auto without = applyEdits(setup, edits);
    if (!without || !planRun(*without)) // Else something else in the set-up says it.
        edits.insert(edits.end(), needed.begin(), needed.end());
    return edits;
}

PaletteGroup classes(const Setup& setup, std::string title, const Field& chooser)
{
    PaletteGroup group{std::move(title), {}};
    for (const auto choice : chooser.choices)
        group.blocks.push_back(
            {std::string(shortClassName(choice)), {}, classEdits(setup, chooser, choice), {}});
    return group;
}

PaletteGroup schedules(const Setup& setup)
{
    auto group = classes(setup, "Schedule", field::scheduleClass);
    group.blocks.insert(group.blocks.begin(), PaletteBlock{"constant", {}, {unset("lr_scheduler")}, {}});
    return group;
}

/// What the palette offers of settings that take any number.
struct OfferedClip {
    std::string_view name;
    std::string_view algorithm;
    double value;
};
constexpr std::array kClips = {OfferedClip{"norm 1.0", "norm", 1.0}, OfferedClip{"value 0.5", "value", 0.5}};
constexpr std::array kAccumulations = {1, 2, 4, 8};

std::vector<Edit> noClipping()
{
    return {unset(field::clipValue.path), unset(field::clipAlgorithm.path), unset(field::fabricMaxNorm.path),
            unset(field::fabricClipValue.path)};
}

PaletteGroup clippings(const Target& target)
{
    PaletteGroup group{"Clipping", {{"none", {}, noClipping(), {}}}};
    for (const auto& clip : kClips) {
        auto edits = noClipping();
        if (target.framework == Framework::Fabric) {
            const auto& field = clip.algorithm == "norm" ? field::fabricMaxNorm : field::fabricClipValue;
            edits.push_back(set(field.path, clip.value));
        } else {
            edits.push_back(set(field::clipValue.path, clip.value));
            edits.push_back(set(field::clipAlgorithm.path, clip.algorithm));
        }
        group.blocks.push_back({std::string(clip.name), {}, std::move(edits), {}});
    }
    return group;
}

PaletteGroup accumulations()
{
    PaletteGroup group{"Accumulation", {}};
    for (const int count : kAccumulations)
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
    PaletteGroup group{"Callbacks", {}};
    const std::string list(field::callbacks.path);
    for (const auto choice : field::callbacks.choices) {
        const std::string name(choice);
        const Value entry(ValueMap{{"class_path", Value(fullClassPath("callbacks", name))}});
        group.blocks.push_back(
            {name, {}, {{EditOp::Append, list, entry}}, {{EditOp::Remove, list + "[" + name + "]", {}}}});
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
            classes(setup, "Model", field::modelClass),
            classes(setup, "Data", field::dataClass)};
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
