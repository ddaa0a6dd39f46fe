#pragma once

#include "engine/recipe/setup_file.h"
#include "engine/rules/target.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace mantissa::cli {

/// A set-up file as a command was given it.
struct SetupArgument {
    std::string path;
    std::string text;
    SetupFile file;
};

/// Reads it. The error of a text that is no set-up says the place: "config.yaml:3:7: …".
Result<SetupArgument> readSetupArgument(const std::string& path);

/// --set, for changeSetup().
void addSetOption(CLI::App& command, std::vector<std::string>& changes);

/// The set-up with changes such as "trainer.precision=bf16-mixed" done in its text, so that what is stored
/// with a run is what ran.
Result<void> changeSetup(SetupArgument& argument, const std::vector<std::string>& changes);

/// The target that a command names, else the one of the file.
Result<Target> targetArgument(const std::string& name, const Setup& setup);

} // namespace mantissa::cli
