#pragma once

#include "engine/checkpoint/safetensors.h"
#include "engine/core/training_service.h"
#include "engine/train/step_report.h"
#include "engine/train/verify_trace.h"

#include <vector>

namespace mantissa {

/// What a replay gave: the reports of every rank for every step, and the parameters at the end.
struct Replay {
    std::vector<std::vector<StepReport>> reports; ///< [rank][step]
    std::vector<std::string> checksums; ///< CRC-32 of the parameters after each step, in one process.
    NamedTensors parameters;
    NamedTensors buffers;
};

/// Discrete values exactly, numbers within what another machine can reach.
VerifyReport compareWithin(const Trace& trace, const Replay& replay, const NamedTensors& recordedFinal);

/// Bit for bit: the checksum of all parameters after every step, every loss, every discrete value.
VerifyReport compareExactly(const Trace& trace, const Replay& replay);

} // namespace mantissa
