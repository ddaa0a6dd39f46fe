#pragma once

#include "engine/core/result.h"
#include "engine/recipe/setup.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class Framework { Trainer, Fabric, Mantissa };

std::string_view frameworkId(Framework framework); ///< "trainer"

/// What a set-up is meant to run on. What is not named is taken to be what the set-up asks for, and said so.
struct Target {
    std::string name; ///< "trainer-2.6.6"
    Framework framework = Framework::Trainer;
    std::string lightning = "2.6.6";
    std::string torch = "2.11.0";
    std::optional<int> gpus;
    std::string gpu;
    std::optional<int> nodes;
    std::optional<std::vector<std::string>> packages;
    std::string os = "linux";
    bool verified = true; ///< Verdicts of the real package were measured for this version.
};

/// The named targets that ship, the default first.
std::span<const Target> shippedTargets();

/// What is installed beside Lightning and torch where a row of flat names says nothing: as where the verdicts
/// of such rows were measured.
std::vector<std::string> packagesOfRows();

/// The named target, or the error that lists the names there are.
Result<Target> targetNamed(std::string_view name);

/// A target as it is written: a name, or a map with `name` (whose values it starts from) and what differs
/// from it: `framework, lightning, torch, gpus, gpu, nodes, packages, os`. An empty map is the default
/// target.
Result<Target> targetFrom(const Value& value);

/// From `mantissa.target` of the set-up, else `trainer-2.6.6`.
Result<Target> targetOf(const Setup& setup);

/// The target with what the set-up itself says of its surroundings (`mantissa.facts.env`), which wins.
Target withSurroundings(Target target, const Setup& setup);

} // namespace mantissa
