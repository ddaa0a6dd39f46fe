#pragma once

#include "app/cli/setup_argument.h"
#include "engine/rules/finding.h"

#include <cstdio>
#include <string>

namespace mantissa::cli {

/// "Will not start: FSDP has no precision 64-true: … [fsdp-precision]"
std::string findingText(const Finding& finding);

/// A finding at its place, "config.yaml:3:7: …", and a line for each way out.
void printFinding(std::FILE* to, const Finding& finding, const SetupArgument& setup);

} // namespace mantissa::cli
