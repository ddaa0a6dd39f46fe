#include "engine/history/replay_check.h"

#include "engine/history/run_reader.h"

#include <algorithm>
#include <bit>
#include <map>

namespace mantissa {
namespace {

constexpr std::string_view kHashSeries = "param_hash";

std::map<std::int64_t, double> byStep(const SeriesPoints& points)
{
    std::map<std::int64_t, double> values;
    for (std::size_t i = 0; i < points.step.size(); ++i)
        values[points.step[i]] = points.value[i];
    return values;
}

/// The first step of the replay where the run has another value.
std::optional<std::int64_t> firstDifference(const SeriesPoints& run, const SeriesPoints& replay)
{
    const auto before = byStep(run);
    for (std::size_t i = 0; i < replay.step.size(); ++i) {
        const auto found = before.find(replay.step[i]);
        const bool same = found != before.end()
            && std::bit_cast<std::uint64_t>(found->second) == std::bit_cast<std::uint64_t>(replay.value[i]);
        if (!same)
            return replay.step[i];
    }
    return std::nullopt;
}

} // namespace

Result<ReplayReport> checkReplay(const std::filesystem::path& run, const std::filesystem::path& replay)
{
    const auto first = RunReader::open(run);
    if (!first)
        return first.error();
    const auto second = RunReader::open(replay);
    if (!second)
        return second.error();
    const auto specs = (*second)->series();
    if (!specs)
        return specs.error();
    ReplayReport report;
    for (const auto& spec : *specs) {
        if (!spec.deterministic)
            continue;
        const auto then = (*first)->points(spec);
        if (!then && then.error().code == ErrorCode::NotFound)
            continue; // The run did not record it.
        if (!then)
            return then.error();
        const auto now = (*second)->points(spec);
        if (!now)
            return now.error();
        report.steps = std::max(report.steps, static_cast<std::int64_t>(now->step.size()));
        report.hashed = report.hashed || (spec.name == kHashSeries && !then->step.empty());
        const auto step = firstDifference(*then, *now);
        if (step && (!report.differsFrom || *step < *report.differsFrom)) {
            report.differsFrom = step;
            report.series = spec.name;
        }
    }
    return report;
}

} // namespace mantissa
