#pragma once

#include "engine/recipe/field.h"
#include "engine/recipe/optimizer_plan.h"
#include "engine/recipe/setup.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// An argument of which a class has another default than the table of fields.
struct ClassDefault {
    std::string_view name;
    std::string_view value; ///< As YAML.
};

/// An optimizer that this engine trains with, by the name under which its package has it.
struct OptimizerClass {
    std::string_view package; ///< "torch.optim."
    std::string_view name; ///< "AdamW"
    OptimizerKind kind;
    std::span<const ClassDefault> defaults;
};

struct ScheduleClass {
    std::string_view package;
    std::string_view name;
    ScheduleKind kind;
};

std::span<const OptimizerClass> optimizerClasses();
std::span<const ScheduleClass> scheduleClasses();

std::string_view optimizerName(OptimizerKind kind); ///< "AdamW"

/// By full path ("torch.optim.adamw.AdamW" too) or by the name alone; null for any other class.
const OptimizerClass* optimizerClass(std::string_view path);
const ScheduleClass* scheduleClass(std::string_view path);

/// What the class that a section ("optimizer", "lr_scheduler") names takes; nothing where it is not one of
/// the above.
std::optional<std::vector<std::string_view>> argumentNames(const Setup& setup, std::string_view section);

/// Arguments that packages take or took, and that say nothing as long as they have their defaults.
bool isHarmlessArgument(std::string_view name, const Value& value);

/// Whether a setting means something to the class that its section names; true where that is not known.
bool concernsClass(const Setup& setup, const Field& field);

/// The default of a setting: its class's where it is an argument, else the field's.
Value defaultIn(const Setup& setup, const Field& field);
/// What is written, or the default.
Value settingIn(const Setup& setup, const Field& field);

} // namespace mantissa
