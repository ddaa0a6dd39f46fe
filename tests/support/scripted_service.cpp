#include "tests/support/scripted_service.h"

#include "tests/support/scripted_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa::test {
namespace {

constexpr std::int64_t kGrowthInterval = 60;

/// Between -1 and 1, the same for the same step and salt.
double noise(std::int64_t step, int salt)
{
    const double mixed = std::sin(static_cast<double>(step) * 12.9898 + salt * 78.233) * 43758.5453;
    return 2.0 * (mixed - std::floor(mixed)) - 1.0;
}

struct ScaleNow {
    double scale = 65536.0;
    std::int64_t tracker = 0;
};

/// The scale after a step, by the rules of the loss scaler.
ScaleNow scaleAfter(const std::vector<std::int64_t>& skips, std::int64_t step)
{
    std::int64_t lastSkip = -1;
    ScaleNow now;
    for (const auto skip : skips) {
        if (skip > step)
            break;
        now.scale *= std::pow(2.0, static_cast<double>((skip - lastSkip - 1) / kGrowthInterval)) * 0.5;
        lastSkip = skip;
    }
    const std::int64_t good = step - lastSkip;
    now.scale *= std::pow(2.0, static_cast<double>(good / kGrowthInterval));
    now.tracker = good % kGrowthInterval;
    return now;
}

} // namespace

std::vector<SeriesSpec> scriptedSeries()
{
    return {{"loss", "1"},
            {"accuracy", "1"},
            {"loss_scale", "1"},
            {"growth_tracker", "1"},
            {"skipped", "1"},
            {"nonfinite_before", "1", 0},
            {"nonfinite_before", "1", 1},
            {"found_inf", "1", 0},
            {"found_inf", "1", 1},
            {"grad_norm", "1"},
            {"grad_norm_clipped", "1"},
            {"grad_norm_scaled", "1"},
            {"lr", "1"},
            {"step_time", "s", -1, "train", false},
            {"samples_per_second", "1/s", -1, "train", false}};
}

std::vector<Sample> scriptedSamples(const RunScript& script, std::int64_t step)
{
    const bool skipped = std::find(script.skips.begin(), script.skips.end(), step) != script.skips.end();
    const auto before = scaleAfter(script.skips, step - 1);
    const auto after = scaleAfter(script.skips, step);
    const double progress = static_cast<double>(step) / 80.0;
    const double loss = 2.2 * std::exp(-progress) + 0.3 + 0.05 * noise(step, 1);
    const double norm = skipped ? std::numeric_limits<double>::infinity()
                                : 0.8 + std::exp(-progress) * (1.5 + 0.6 * noise(step, 2));
    const double overflow = skipped ? 1.0 : 0.0;
    const double seconds = 0.012 + 0.002 * noise(step, 3);
    const double values[] = {loss,
                             1.0 - std::exp(-progress) * 0.9,
                             after.scale,
                             static_cast<double>(after.tracker),
                             overflow,
                             0.0,
                             overflow,
                             overflow,
                             overflow,
                             norm,
                             skipped ? norm : std::min(norm, 1.0),
                             norm * before.scale,
                             1e-3,
                             seconds,
                             128.0 / seconds};
    std::vector<Sample> samples;
    for (int series = 0; const double value : values)
        samples.push_back({series++, step, 0.0, value});
    return samples;
}

Result<std::unique_ptr<TrainingRun>> ScriptedService::start(const RunRequest& request)
{
    RunScript script;
    {
        const std::scoped_lock lock(m_mutex);
        m_requests.push_back(request);
        script = m_script;
    }
    if (script.throws)
        throw std::runtime_error("nobody expected this");
    if (script.refusal)
        return *script.refusal;
    if (script.series.empty())
        script.series = scriptedSeries();
    RunStart start;
    start.history = request.history;
    start.name = request.name;
    start.kind = request.kind;
    start.setupText = request.setupText;
    start.effective = "{}";
    start.findings = request.findingsJson;
    start.assumed = request.assumedJson;
    start.environment = R"({"engine":"scripted"})";
    start.series = script.series;
    if (request.resume) {
        start.parentRun = request.resume->parentRun;
        start.parentStep = request.resume->parentStep;
    }
    auto writer = RunWriter::create(start);
    if (!writer)
        return writer.error();
    return std::unique_ptr<TrainingRun>(std::make_unique<ScriptedRun>(std::move(script), std::move(*writer)));
}

Result<ShadowReport> ScriptedService::shadow(const ShadowRequest& request)
{
    const std::scoped_lock lock(m_mutex);
    if (!m_script.shadow)
        return m_script.shadow.error();
    auto report = *m_script.shadow;
    report.precision = precisionId(request.plan.precision);
    report.ranks = request.plan.ranks;
    report.samples = request.plan.batchSize * request.batches;
    return report;
}

Result<VerifyReport> ScriptedService::verify(const VerifyRequest& request)
{
    const std::scoped_lock lock(m_mutex);
    if (!m_script.verdict)
        return m_script.verdict.error();
    auto report = *m_script.verdict;
    if (report.caseName.empty())
        report.caseName = request.caseFolder.filename().string();
    report.exact = request.exact;
    return report;
}

void ScriptedService::setScript(RunScript script)
{
    const std::scoped_lock lock(m_mutex);
    m_script = std::move(script);
}

std::vector<RunRequest> ScriptedService::requests() const
{
    const std::scoped_lock lock(m_mutex);
    return m_requests;
}

} // namespace mantissa::test
