#pragma once

#include "engine/recipe/setup_file.h"
#include "engine/rules/target.h"

#include <string>

namespace mantissa::cli {

/// A set-up file as a command was given it.
struct SetupArgument {
    std::string path;
    std::string text;
    SetupFile file;
};

/// Reads it. The error of a text that is no set-up says the place: "config.yaml:3:7: …".
Result<SetupArgument> readSetupArgument(const std::string& path);

/// The target that a command names, else the one of the file.
Result<Target> targetArgument(const std::string& name, const Setup& setup);

} // namespace mantissa::cli
