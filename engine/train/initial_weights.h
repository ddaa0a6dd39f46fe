#pragma once

#include "engine/train/stored_training.h"

namespace mantissa {

/// What the plan begins with, in fp32: read from the file that it names, under our names or a public GPT-2's.
/// Empty where it names none: then the ranks draw their weights.
Result<InitialTensors> makeInitialTensors(const RunPlan& plan);

} // namespace mantissa
