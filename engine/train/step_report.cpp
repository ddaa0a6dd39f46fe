#include "engine/train/step_report.h"

#include "engine/callbacks/callback_list.h"
#include "engine/train/validation.h"

#include <algorithm>

namespace mantissa {
namespace {

constexpr int kWholeRun = -1;

std::vector<SeriesSpec> wholeRunSeries(const RunPlan& plan)
{
    std::vector<SeriesSpec> series = {{"loss", "1"}, {"accuracy", "1"}};
    const auto add = [&series](bool wanted, const char* name) {
        if (wanted)
            series.push_back({name, "1"});
    };
    add(plan.scaler.enabled, "loss_scale");
    add(plan.scaler.enabled, "growth_tracker");
    add(true, "skipped");
    add(true, "grad_norm");
    for (const auto& name : ownSeries(plan))
        series.push_back({name, "1"});
    add(plan.clip.kind != ClipKind::None, "grad_norm_clipped");
    add(plan.scaler.enabled, "grad_norm_scaled");
    add(true, "param_norm");
    add(true, "update_ratio");
    add(true, "stalled_share");
    add(true, "lr");
    for (const auto* name : kFp8Saturated)
        add(plan.precision == PrecisionMode::Fp8Mixed, name);
    for (const auto* name : kFp8Flushed)
        add(plan.precision == PrecisionMode::Fp8Mixed, name);
    series.push_back({"step_time", "s", kWholeRun, "train", false});
    series.push_back({"samples_per_second", "1/s", kWholeRun, "train", false});
    return series;
}

void addRankSeries(std::vector<SeriesSpec>& series, const RunPlan& plan, int rank)
{
    series.push_back({"nonfinite_before", "1", rank});
    if (plan.scaler.enabled)
        series.push_back({"found_inf", "1", rank});
    if (plan.hashParameters)
        series.push_back({"param_hash", "1", rank});
    series.push_back({"data_time", "s", rank, "train", false});
    series.push_back({"comm_time", "s", rank, "train", false});
    series.push_back({"memory", "B", rank, "train", false});
}

} // namespace

StepSeries::StepSeries(const RunPlan& plan) : m_catalogue(wholeRunSeries(plan))
{
    for (const auto& own : plan.ownOptimizers)
        m_turns.push_back(own.series);
    for (const auto& added : {validationSeries(plan), loggedSeries(plan)})
        m_catalogue.insert(m_catalogue.end(), added.begin(), added.end());
    for (int rank = 0; rank < plan.ranks; ++rank)
        addRankSeries(m_catalogue, plan, rank);
}

int StepSeries::indexOf(std::string_view name, int rank) const
{
    const auto found = std::find_if(m_catalogue.begin(), m_catalogue.end(), [&](const SeriesSpec& spec) {
        return spec.rank == rank && spec.name == name;
    });
    return found == m_catalogue.end() ? -1 : static_cast<int>(found - m_catalogue.begin());
}

std::vector<Sample> StepSeries::samples(const StepReport& report, int rank, double time) const
{
    std::vector<Sample> samples;
    const auto add = [&](std::string_view name, int owner, std::optional<double> value) {
        if (const int index = indexOf(name, owner); index >= 0 && value)
            samples.push_back({index, report.step, time, *value});
    };
    if (rank == 0) {
        add("loss", kWholeRun, report.loss);
        add("accuracy", kWholeRun, report.accuracy);
        add("loss_scale", kWholeRun, report.lossScale);
        add("growth_tracker", kWholeRun, report.growthTracker);
        add("skipped", kWholeRun, static_cast<double>(report.skippedSteps));
        add("grad_norm", kWholeRun, report.gradNorm);
        for (std::size_t i = 0; i < report.turns.size(); ++i) {
            add("loss_" + m_turns[i], kWholeRun, report.turns[i].loss);
            add("grad_norm_" + m_turns[i], kWholeRun, report.turns[i].gradNorm);
        }
        add("grad_norm_clipped", kWholeRun, report.gradNormClipped);
        add("grad_norm_scaled", kWholeRun, report.gradNormScaled);
        add("param_norm", kWholeRun, report.paramNorm);
        add("update_ratio", kWholeRun, report.updateRatio);
        add("stalled_share", kWholeRun, report.stalledShare);
        add("lr", kWholeRun, report.learningRate);
        for (const auto& logged : report.logged)
            add(logged.series, kWholeRun, logged.value);
        add("step_time", kWholeRun, report.stepSeconds);
        add("samples_per_second", kWholeRun,
            report.stepSeconds > 0.0 ? static_cast<double>(report.samples) / report.stepSeconds : 0.0);
    }
    add("nonfinite_before", rank, static_cast<double>(report.nonfiniteBefore));
    add("found_inf", rank, report.foundInf);
    add("param_hash", rank, report.parameterHash);
    add("data_time", rank, report.dataSeconds);
    add("comm_time", rank, report.commSeconds);
    add("memory", rank, static_cast<double>(report.memoryBytes));
    return samples;
}

} // namespace mantissa
