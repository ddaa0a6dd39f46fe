#pragma once

namespace mantissa {

// Series that callbacks add.
inline constexpr const char* kMonitoredRate = "monitored_lr";
inline constexpr const char* kMonitoredMomentum = "momentum";
inline constexpr const char* kMonitoredWeightDecay = "weight_decay";
inline constexpr const char* kProcessorShare = "cpu_percent";
inline constexpr const char* kMemoryShare = "memory_percent";
inline constexpr const char* kSwapShare = "swap_percent";
inline constexpr const char* kProcessMemory = "process_memory";

} // namespace mantissa
