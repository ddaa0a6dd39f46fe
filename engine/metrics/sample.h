#pragma once

#include <cstdint>
#include <string>

namespace mantissa {

/// A series of a run: one quantity of one rank. `rank` is -1 for a value of the whole run.
struct SeriesSpec {
    std::string name; ///< From design: "loss", "grad_norm", …
    std::string unit; ///< "1" where it has none.
    int rank = -1;
    std::string split = "train";
    bool deterministic = true; ///< Bit-equal in two runs of one set-up with one seed.
    bool operator==(const SeriesSpec&) const = default;
};

/// One point. `series` is the index of its SeriesSpec in the run's catalogue; `time` is seconds since the run
/// began.
struct Sample {
    int series = 0;
    std::int64_t step = 0;
    double time = 0.0;
    double value = 0.0;
    bool operator==(const Sample&) const = default;
};

/// Something that happened: a state, a skipped step, a growth, a fault, a failure.
struct RunEvent {
    std::int64_t step = 0;
    double time = 0.0;
    std::string kind; ///< "skipped", "growth", "backoff", "nonfinite", "injected", "checkpoint", "failure",
                      ///< "stage_trace", …
    std::string stage; ///< Stage id, or empty.
    int rank = -1;
    std::string layer;
    std::string message; ///< A sentence.
    std::string detail; ///< JSON, or empty.
    bool operator==(const RunEvent&) const = default;
};

} // namespace mantissa
