#include "engine/rules/callback_reading.h"

#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <cctype>

namespace mantissa {
namespace {

/// "ModelCheckpoint" is in model_checkpoint.py.
std::string fileOfClass(std::string_view name)
{
    std::string file;
    for (const char letter : name.substr(0, name.find('#'))) {
        const auto code = static_cast<unsigned char>(letter);
        if (std::isupper(code) && !file.empty())
            file += '_';
        file += static_cast<char>(std::tolower(code));
    }
    return file;
}

} // namespace

std::string CallbackReading::path() const
{
    return std::string(field::callbacks.path) + "[" + m_name + "]";
}

std::string CallbackReading::path(std::string_view argument) const
{
    return path() + "." + std::string(argument);
}

Fix CallbackReading::without(std::string title, std::string text) const
{
    return changingFix(std::move(title), {removeEntry(field::callbacks.path, m_name)}, std::move(text));
}

Fix CallbackReading::with(std::string_view argument, Value value, std::string title, std::string text) const
{
    return changingFix(std::move(title), {setTo(path(argument), std::move(value))}, std::move(text));
}

Fix CallbackReading::byDefault(std::string_view argument, std::string title, std::string text) const
{
    return changingFix(std::move(title), {unset(path(argument))}, std::move(text));
}

Finding CallbackReading::refused(std::string_view argument, std::string_view function) const
{
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {path(argument)});
    finding.source = inCallback(fileOfClass(m_name), function);
    finding.engine = "same";
    return finding;
}

std::vector<CallbackReading> callbacksNamed(const RuleContext& context, std::string_view className)
{
    std::vector<CallbackReading> found;
    for (const Value& entry : context.at(field::callbacks).asList()) {
        if (classOf(entry) != className)
            continue;
        const std::string number = found.empty() ? "" : "#" + std::to_string(found.size() + 1);
        found.emplace_back(entry, std::string(className) + number);
    }
    return found;
}

bool hasCallback(const RuleContext& context, std::string_view className)
{
    return !listEntry(context.at(field::callbacks), className).isAbsent();
}

Fix withoutCallback(std::string_view className, std::string title, std::string text)
{
    return changingFix(std::move(title), {removeEntry(field::callbacks.path, className)}, std::move(text));
}

FindingSource inCallback(std::string_view file, std::string_view function)
{
    return inLightning("src/lightning/pytorch/callbacks/" + std::string(file) + ".py, "
                       + std::string(function));
}

const Value& otherFact(const RuleContext& context, std::string_view name)
{
    return context.at("mantissa.facts." + std::string(name));
}

const Value& otherKnob(const RuleContext& context, std::string_view name)
{
    return context.at("mantissa.knobs")[name];
}

bool isUsed(const RuleContext& context)
{
    return context.at(field::runFn).asString() != "construct";
}

bool isTrialRun(const RuleContext& context)
{
    const Value& value = context.at(field::fastDevRun);
    return value.asBool() || value.asInteger() > 0;
}

bool hasLastEpoch(const RuleContext& context)
{
    const Value& epochs = context.at(field::maxEpochs);
    if (epochs.isInteger())
        return epochs.asInteger() >= 0;
    const bool byOtherMeans =
        context.at(field::maxSteps).asInteger(-1) != -1 || context.at(field::maxTime).isSet();
    return !byOtherMeans; // 1,000 where nothing is said.
}

bool hasLogger(const RuleContext& context)
{
    const Value& logger = context.at(field::logger);
    if (logger.isBool())
        return logger.asBool();
    if (logger.isList())
        return !logger.asList().empty();
    return logger.isSet() || !context.at(field::barebones).asBool();
}

} // namespace mantissa
