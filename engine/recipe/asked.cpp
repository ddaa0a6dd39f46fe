#include "engine/recipe/asked.h"

#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mantissa {

namespace {

struct Alias {
    std::string_view written;
    std::string_view meant;
};

constexpr std::array kPrecisionAliases = {
    Alias{"16", "16-mixed"},
    Alias{"bf16", "bf16-mixed"},
    Alias{"32", "32-true"},
    Alias{"64", "64-true"},
};

constexpr std::array kDtypes = {
    Alias{"float32", "fp32"}, Alias{"float", "fp32"}, Alias{"fp32", "fp32"},     Alias{"float16", "fp16"},
    Alias{"half", "fp16"},    Alias{"fp16", "fp16"},  Alias{"bfloat16", "bf16"}, Alias{"bf16", "bf16"},
};

template <typename Table>
std::string_view meant(const Table& table, std::string_view written)
{
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const auto& a) { return a.written == written; });
    return found == table.end() ? std::string_view{} : found->meant;
}

const Value& fieldOfScaler(const Setup& setup, std::string_view name)
{
    static constexpr std::array kFields = {&field::scalerInitScale, &field::scalerGrowthFactor,
                                           &field::scalerBackoffFactor, &field::scalerGrowthInterval};
    static const Value kAbsent;
    for (const auto* field : kFields)
        if (field->path.ends_with(name))
            return setup[*field];
    return kAbsent;
}

} // namespace

Value precisionPlugin(const Setup& setup)
{
    const auto& plugins = setup[field::plugins];
    for (const auto& plugin : plugins.isList() ? plugins.asList() : ValueList{plugins})
        if (classOf(plugin).ends_with("Precision"))
            return plugin;
    return setup[field::strategyPrecisionPlugin].isMap() ? setup[field::strategyPrecisionPlugin] : Value();
}

std::string precisionName(const Setup& setup)
{
    const auto plugin = precisionPlugin(setup);
    const auto& given = argumentOf(plugin, "precision");
    const auto value = given.isSet() ? given : setup.effective(field::precision);
    const auto written = value.isString() ? value.asString() : value.text();
    const auto full = meant(kPrecisionAliases, written);
    return full.empty() ? written : std::string(full);
}

std::string strategyAsked(const Setup& setup)
{
    const auto kind = strategyKind(setup.effective(field::strategy));
    if (kind == "auto" || kind.empty())
        return ranksHere(setup) > 1 ? "ddp" : "single_device";
    return kind;
}

bool shardsWeights(const Setup& setup)
{
    const auto kind = strategyAsked(setup);
    return kind == "fsdp" || kind == "model_parallel" || kind == "xla_fsdp";
}

int ranksHere(const Setup& setup)
{
    const auto& own = setup[field::ranks];
    const auto& devices = own.isSet() ? own : setup[field::devices];
    auto ranks = devices.isList() ? static_cast<std::int64_t>(devices.asList().size()) : devices.asInteger(1);
    if (const auto text = devices.asString(); !text.empty())
        std::from_chars(text.data(), text.data() + text.size(), ranks);
    return static_cast<int>(std::clamp<std::int64_t>(ranks, 1, 1024));
}

std::string frameworkOf(const Setup& setup)
{
    const auto& target = setup[field::target];
    const auto name =
        target.isMap() ? target["framework"].asString("trainer") : setup.effective(field::target).asString();
    for (const std::string_view framework : {"fabric", "mantissa"})
        if (name.starts_with(framework))
            return std::string(framework);
    return "trainer";
}

ClipAsked clipAsked(const Setup& setup)
{
    ClipAsked clip;
    clip.normType = setup.effective(field::normType).asDouble(2.0);
    const auto ask = [&](const Field& field, ClipKind kind) {
        const auto value = setup[field].asDouble();
        if (clip.kind == ClipKind::None && value > 0.0) {
            clip.kind = kind;
            clip.value = value;
            clip.path = field.path;
        }
    };
    const auto trainer = [&] {
        const bool byValue = setup.effective(field::clipAlgorithm).asString() == "value";
        ask(field::clipValue, byValue ? ClipKind::Value : ClipKind::Norm);
    };
    if (frameworkOf(setup) != "fabric")
        trainer();
    ask(field::fabricMaxNorm, ClipKind::Norm);
    ask(field::fabricClipValue, ClipKind::Value);
    trainer();
    return clip;
}

std::map<std::int64_t, std::int64_t> accumulationAsked(const Setup& setup)
{
    std::map<std::int64_t, std::int64_t> batches = {
        {0, std::max<std::int64_t>(1, setup.effective(field::accumulate).asInteger(1))}};
    for (const auto& [from, count] : setup[field::accumulationSchedule].asMap()) {
        std::int64_t epoch = -1;
        std::from_chars(from.data(), from.data() + from.size(), epoch);
        if (epoch >= 0 && count.asInteger() >= 1)
            batches[epoch] = count.asInteger();
    }
    return batches;
}

bool unscalesItself(const Setup& setup)
{
    const auto& said = setup[field::selfUnscaling];
    if (said.isBool())
        return said.asBool();
    return setup.effective(field::fused).asBool()
        || setup[field::optimizerClass].asString() == "SelfUnscaling";
}

bool unscalesExplicitly(const Setup& setup)
{
    if (precisionName(setup) != "16-mixed")
        return false;
    // The Trainer leaves unscaling to such an optimizer, and refuses at clipping.
    const bool asTrainer =
        setup.effective(field::mode).asString() == "faithful" && frameworkOf(setup) == "trainer";
    const bool clips = clipAsked(setup).kind != ClipKind::None && !asTrainer;
    return clips || !unscalesItself(setup) || setup.effective(field::explicitUnscale).asBool();
}

double scalerSetting(const Setup& setup, std::string_view name)
{
    const auto& own = fieldOfScaler(setup, name);
    const auto& given = argumentOf(argumentOf(precisionPlugin(setup), "scaler"), name);
    if (own.isNumber() || given.isNumber())
        return own.isNumber() ? own.asDouble() : given.asDouble();
    const auto* field = fieldAt("mantissa.scaler." + std::string(name));
    return field ? field->defaultValue().asDouble() : 0.0;
}

std::string dtypeName(std::string_view written)
{
    return std::string(meant(kDtypes, shortClassName(written)));
}

} // namespace mantissa
