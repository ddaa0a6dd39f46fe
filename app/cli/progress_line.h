#pragma once

#include "engine/core/training_service.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::cli {

/// A run's progress on standard error: one line that is written over on a terminal, a plain line now and then
/// elsewhere.
class ProgressLine {
public:
    ProgressLine();

    /// Takes what the run has recorded since the last call and shows it where it is time to.
    void show(TrainingRun& run);
    /// A line of its own; the progress goes on below it.
    void say(const std::string& text);
    /// Leaves the last progress standing.
    void end(TrainingRun& run);

private:
    void drain(TrainingRun& run);
    std::string text(const RunProgress& progress) const;
    void print(const std::string& line);

    const bool m_onTerminal;
    std::vector<SeriesSpec> m_series;
    std::optional<double> m_loss;
    std::optional<double> m_scale;
    std::chrono::steady_clock::time_point m_next;
    std::size_t m_width = 0;
};

/// "1 min 12 s"
std::string durationText(double seconds);

} // namespace mantissa::cli
