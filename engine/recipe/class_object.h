#pragma once

#include "engine/recipe/path.h"
#include "engine/recipe/value.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mantissa {

/// A name that stands for a strategy object with fixed arguments.
struct StrategyAlias {
    std::string_view name; ///< "fsdp_cpu_offload"
    std::string_view className; ///< "FSDPStrategy"
    std::string_view argument = {}; ///< The fixed argument, if there is one, ...
    std::string_view value = {}; ///< ... and its value as YAML.
};

std::span<const StrategyAlias> strategyAliases();
/// Strategy names are read without regard to case, as Lightning does.
const StrategyAlias* strategyAlias(std::string_view name);

/// "fsdp", "ddp", "deepspeed", "model_parallel", "single_device", "xla", "xla_fsdp" for names and objects
/// alike; any other name in lower case, such as "auto"; empty for what is no name.
std::string strategyKind(const Value& strategy);
/// "FSDPStrategy" of "fsdp"; empty for an unknown kind.
std::string_view strategyClass(std::string_view kind);

/// The short class name of an object written as `class_path` or as a bare name; empty for anything else.
std::string classOf(const Value& object);
/// The entry's argument, absent where there is none. Works on `class_path` objects only.
const Value& argumentOf(const Value& object, std::string_view argument);
const Value& argumentOf(Value&&, std::string_view) = delete; // It would be gone with its object.

/// `{class_path: …}` for a bare name; a strategy alias becomes the object that it stands for.
Value objectOfName(std::string_view name);

/// The full class path that a new entry of a section gets: ("callbacks", "EarlyStopping") gives
/// "lightning.pytorch.callbacks.EarlyStopping".
std::string fullClassPath(std::string_view section, std::string_view className);

} // namespace mantissa
