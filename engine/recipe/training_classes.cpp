#include "engine/recipe/training_classes.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields_update.h"
#include "engine/recipe/flow_value.h"
#include "engine/recipe/scalar.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

using Default = ClassDefault;

// Where a class has another default than the table of fields: torch 2.11, lion-pytorch 0.2, bitsandbytes
// 0.50.
constexpr std::array kNone = {Default{"weight_decay", "0.0"}};
constexpr std::array kAdamW = {Default{"weight_decay", "0.01"}};
constexpr std::array kAdagrad = {Default{"lr", "0.01"}, Default{"eps", "1e-10"},
                                 Default{"weight_decay", "0.0"}};
constexpr std::array kRmsProp = {Default{"lr", "0.01"}, Default{"weight_decay", "0.0"}};
constexpr std::array kLion = {Default{"lr", "1e-4"}, Default{"betas", "[0.9, 0.99]"},
                              Default{"weight_decay", "0.0"}};
constexpr std::array kLbfgs = {Default{"lr", "1.0"}};

constexpr std::string_view kTorch = "torch.optim.";
constexpr std::string_view kBits = "bitsandbytes.optim.";

constexpr std::array kOptimizers = {
    OptimizerClass{kTorch, "SGD", OptimizerKind::Sgd, kNone},
    OptimizerClass{kTorch, "Adam", OptimizerKind::Adam, kNone},
    OptimizerClass{kTorch, "AdamW", OptimizerKind::AdamW, kAdamW},
    OptimizerClass{kTorch, "Adagrad", OptimizerKind::Adagrad, kAdagrad},
    OptimizerClass{kTorch, "RMSprop", OptimizerKind::RmsProp, kRmsProp},
    OptimizerClass{kTorch, "LBFGS", OptimizerKind::Lbfgs, kLbfgs},
    OptimizerClass{"lion_pytorch.", "Lion", OptimizerKind::Lion, kLion},
    OptimizerClass{kBits, "AdamW8bit", OptimizerKind::AdamW8bit, kAdamW},
    OptimizerClass{kBits, "Adam8bit", OptimizerKind::Adam8bit, kNone},
    OptimizerClass{kBits, "Lion8bit", OptimizerKind::Lion8bit, kLion},
    OptimizerClass{kBits, "SGD8bit", OptimizerKind::Sgd8bit, kNone},
};

constexpr std::string_view kTorchSchedule = "torch.optim.lr_scheduler.";

constexpr std::array kSchedules = {
    ScheduleClass{"mantissa.", "WarmupCosine", ScheduleKind::WarmupCosine},
    ScheduleClass{kTorchSchedule, "StepLR", ScheduleKind::Step},
    ScheduleClass{kTorchSchedule, "MultiStepLR", ScheduleKind::MultiStep},
    ScheduleClass{kTorchSchedule, "CosineAnnealingLR", ScheduleKind::Cosine},
    ScheduleClass{kTorchSchedule, "LinearLR", ScheduleKind::Linear},
    ScheduleClass{kTorchSchedule, "ExponentialLR", ScheduleKind::Exponential},
    ScheduleClass{kTorchSchedule, "OneCycleLR", ScheduleKind::OneCycle},
    ScheduleClass{kTorchSchedule, "ReduceLROnPlateau", ScheduleKind::Plateau},
    ScheduleClass{"lightning.pytorch.cli.", "ReduceLROnPlateau", ScheduleKind::Plateau},
    ScheduleClass{"pytorch_lightning.cli.", "ReduceLROnPlateau", ScheduleKind::Plateau},
};

struct HarmlessArgument {
    std::string_view name;
    std::string_view value;
};
constexpr std::array kHarmless = {
    HarmlessArgument{"last_epoch", "-1"},       HarmlessArgument{"verbose", "false"},
    HarmlessArgument{"verbose", "deprecated"},  HarmlessArgument{"percentile_clipping", "100"},
    HarmlessArgument{"block_wise", "true"},     HarmlessArgument{"args", "null"},
    HarmlessArgument{"use_triton", "false"},    HarmlessArgument{"decoupled_weight_decay", "false"},
    HarmlessArgument{"cautious_factor", "1.0"},
};

template <typename Table>
auto classAt(const Table& table, std::string_view path) -> const typename Table::value_type*
{
    const auto name = shortClassName(path);
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& entry) {
        return entry.name == name && (path == name || path.starts_with(entry.package));
    });
    return found == table.end() ? nullptr : &*found;
}

constexpr std::string_view kOptimizerArguments = "optimizer.init_args.";

bool isKnownClass(const Setup& setup, std::string_view section)
{
    const auto path = setup.at(std::string(section) + ".class_path").asString();
    return (section == "optimizer" && optimizerClass(path))
        || (section == "lr_scheduler" && scheduleClass(path));
}

std::string_view sectionOf(const Field& field)
{
    return field.path.substr(0, field.path.find('.'));
}

/// Means nothing where the model brings its own.
bool isOfOneOptimizer(const Field& field)
{
    const auto section = sectionOf(field);
    return section == "optimizer" || section == "lr_scheduler" || field.path == field::parameterGroups.path
        || field.path == field::decayed.path || field.path == field::quantizer.path;
}

/// The default that the set-up's optimizer has of its own; empty where it has none.
std::string_view ownDefault(const Setup& setup, const Field& field)
{
    if (!field.path.starts_with(kOptimizerArguments))
        return {};
    const auto* entry = optimizerClass(setup.at("optimizer.class_path").asString());
    if (!entry)
        return {};
    const auto name = field.path.substr(kOptimizerArguments.size());
    for (const auto& own : entry->defaults)
        if (own.name == name)
            return own.value;
    return {};
}

Value valueOf(std::string_view yaml)
{
    return yaml.front() == '[' ? readFlowValue(yaml) : resolveScalar(yaml);
}

} // namespace

std::span<const OptimizerClass> optimizerClasses()
{
    return kOptimizers;
}

std::span<const ScheduleClass> scheduleClasses()
{
    return kSchedules;
}

std::string_view optimizerName(OptimizerKind kind)
{
    const auto* found = std::find_if(kOptimizers.begin(), kOptimizers.end(),
                                     [&](const OptimizerClass& entry) { return entry.kind == kind; });
    return found == kOptimizers.end() ? std::string_view() : found->name;
}

const OptimizerClass* optimizerClass(std::string_view path)
{
    return classAt(kOptimizers, path);
}

const ScheduleClass* scheduleClass(std::string_view path)
{
    return classAt(kSchedules, path);
}

std::optional<std::vector<std::string_view>> argumentNames(const Setup& setup, std::string_view section)
{
    if (!isKnownClass(setup, section))
        return std::nullopt;
    const auto path = setup.at(std::string(section) + ".class_path").asString();
    const auto className = shortClassName(path);
    const auto arguments = std::string(section) + ".init_args.";
    std::vector<std::string_view> names;
    for (const auto* field : allFields())
        if (field->path.starts_with(arguments) && field->isTakenBy(className))
            names.push_back(field->path.substr(arguments.size()));
    return names;
}

bool isHarmlessArgument(std::string_view name, const Value& value)
{
    return std::any_of(kHarmless.begin(), kHarmless.end(), [&](const auto& argument) {
        return argument.name == name && value.asString(value.text()) == argument.value;
    });
}

bool concernsClass(const Setup& setup, const Field& field)
{
    if (bringsOptimizers(setup) && isOfOneOptimizer(field))
        return false;
    if (field.classes.empty())
        return true;
    const auto section = sectionOf(field);
    const auto path = setup.at(std::string(section) + ".class_path").asString();
    if (section == "lr_scheduler" && path.empty())
        return false; // The rate stays as it is.
    const bool own = path.starts_with("mantissa.") || isKnownClass(setup, section);
    return !own || field.isTakenBy(shortClassName(path));
}

Value defaultIn(const Setup& setup, const Field& field)
{
    const auto own = ownDefault(setup, field);
    return own.empty() ? field.defaultValue() : valueOf(own);
}

Value settingIn(const Setup& setup, const Field& field)
{
    const auto& written = setup[field];
    return written.isSet() ? written : defaultIn(setup, field);
}

} // namespace mantissa
