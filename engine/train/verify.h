#pragma once

#include "engine/core/training_service.h"
#include "engine/train/trainer.h"

namespace mantissa {

/// Trains what a recorded trace trained, with the same Trainer as every run, and compares. NotHere where the
/// trace needs something that this engine lacks.
Result<VerifyReport> verifyCase(const VerifyRequest& request, const TrainerSeams& seams = {});

} // namespace mantissa
