#pragma once

#include "engine/history/run_reader.h"
#include "engine/history/run_writer.h"

#include <QTemporaryDir>

#include <string>
#include <vector>

namespace mantissa::test {

inline RunStart someRun(const std::filesystem::path& history, std::string name = "a run")
{
    RunStart start;
    start.history = history;
    start.name = std::move(name);
    start.setupText = "seed_everything: 1\n";
    start.effective = "{\"precision\":\"16-mixed\"}";
    start.findings = "[]";
    start.assumed = "[]";
    start.environment = "{}";
    start.series = {{"loss", "1", -1, "train", true}, {"nonfinite_before", "1", 1, "train", true}};
    return start;
}

inline std::filesystem::path pathOf(const QTemporaryDir& folder)
{
    return folder.path().toStdString();
}

/// `count` points of series 0, one a step.
inline std::vector<Sample> ramp(std::int64_t first, std::int64_t count)
{
    std::vector<Sample> samples;
    for (std::int64_t step = first; step < first + count; ++step)
        samples.push_back({0, step, static_cast<double>(step) * 0.001, static_cast<double>(step) * 0.5});
    return samples;
}

} // namespace mantissa::test
