#pragma once

#include "engine/history/run_reader.h"

#include <QString>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// Bits of every point, by step.
using StepBits = std::map<std::int64_t, std::uint64_t>;
/// By name and rank.
using SeriesBits = std::map<std::pair<std::string, int>, StepBits>;

/// Every series of a stored run that promises the same bits.
inline SeriesBits deterministicBits(const std::filesystem::path& folder)
{
    SeriesBits bits;
    const auto reader = RunReader::open(folder);
    const auto series = (*reader)->series();
    for (const auto& spec : *series) {
        if (!spec.deterministic)
            continue;
        auto& values = bits[{spec.name, spec.rank}];
        const auto points = (*reader)->points(spec);
        for (std::size_t i = 0; i < points->value.size(); ++i)
            values[points->step[i]] = std::bit_cast<std::uint64_t>(points->value[i]);
    }
    return bits;
}

/// "loss of rank -1 at step 7"; empty where nothing from that step on differs.
inline QString firstDifference(const SeriesBits& a, const SeriesBits& b, std::int64_t from = 0)
{
    for (const auto& [series, values] : a) {
        const auto other = b.find(series);
        for (const auto& [step, value] : values) {
            if (step < from)
                continue;
            const bool same =
                other != b.end() && other->second.contains(step) && other->second.at(step) == value;
            if (!same)
                return QStringLiteral("%1 of rank %2 at step %3")
                    .arg(QString::fromStdString(series.first))
                    .arg(series.second)
                    .arg(step);
        }
    }
    return {};
}

} // namespace mantissa
