#include "engine/rules/search_reading.h"

#include "engine/recipe/path.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"

namespace mantissa {
namespace {

std::string knobPath(std::string_view knob)
{
    return joinPath("mantissa.knobs", knob);
}

std::vector<Search> searches(const RuleContext& context, std::string_view callback, std::string_view call)
{
    std::vector<Search> found;
    for (const auto& one : callbacksNamed(context, callback)) {
        found.push_back({.callback = callback,
                         .call = call,
                         .mode = one["mode"],
                         .margin = one["margin"],
                         .attribute = one["attr_name"],
                         .writesBack = one["update_attr"],
                         .path = one.path()});
    }
    if (otherKnob(context, call).asBool()) {
        const std::string prefix = std::string(call) + ".";
        found.push_back({.callback = callback,
                         .call = call,
                         .isCall = true,
                         .mode = otherKnob(context, prefix + "mode"),
                         .margin = otherKnob(context, prefix + "margin"),
                         .attribute = otherKnob(context, prefix + "attr_name"),
                         .writesBack = otherKnob(context, prefix + "update_attr"),
                         .method = otherKnob(context, prefix + "method"),
                         .path = knobPath(call)});
    }
    return found;
}

} // namespace

std::string Search::name() const
{
    return std::string(isCall ? call : callback);
}

std::string Search::argumentPath(std::string_view argument) const
{
    return isCall ? knobPath(std::string(call) + "." + std::string(argument))
                  : path + "." + std::string(argument);
}

Fix Search::without(std::string title) const
{
    return isCall ? changingFix(std::move(title), {unset(path)})
                  : withoutCallback(callback, std::move(title));
}

std::vector<Search> batchSearches(const RuleContext& context)
{
    return searches(context, "BatchSizeFinder", "tuner.scale_batch_size");
}

std::vector<Search> rateSearches(const RuleContext& context)
{
    return searches(context, "LearningRateFinder", "tuner.lr_find");
}

} // namespace mantissa
