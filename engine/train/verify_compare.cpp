#include "engine/train/verify_compare.h"

#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

namespace mantissa {
namespace {

using Json = nlohmann::json;

struct Tolerances {
    double firstLoss;
    double loss;
    double lossAtol;
    double norm;
    double parameters;
};

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kHalfSteps = 5; // In pure 16 bit later steps follow the trend only …
constexpr double kTrend = 0.25; // … within a quarter of the mean loss.
constexpr std::size_t kChaoticSteps = 10;

Tolerances tolerancesOf(const Trace& trace)
{
    switch (trace.grade) {
    case TraceGrade::Fp32:
        return {1e-6, 1e-4, 1e-5, 1e-3, 1e-3};
    case TraceGrade::Mixed:
        return {2e-3, 2e-2, 2e-3, 3e-2, 2e-2};
    case TraceGrade::Half:
        break;
    }
    return {2e-2, 2e-2, 2e-3, 3e-2, kNever};
}

/// Collects the largest deviation of each quantity.
class Comparison {
public:
    void number(const char* name, double got, double wanted, double rtol, double atol, std::int64_t step)
    {
        VerifyQuantity& quantity = named(name, "relative", rtol);
        const bool bothNot = !std::isfinite(got) && !std::isfinite(wanted);
        const double away = bothNot ? 0.0 : std::abs(got - wanted) / (std::abs(wanted) + atol / rtol);
        const bool same = bothNot || got == wanted;
        note(quantity, same ? 0.0 : std::isnan(away) ? kNever : away, step);
    }

    template <typename Value>
    void equal(const char* name, const Value& got, const Value& wanted, std::int64_t step)
    {
        VerifyQuantity& quantity = named(name, "mismatches", 0.0);
        if (got == wanted)
            return;
        if (quantity.inside)
            quantity.step = step;
        quantity.worst += 1.0;
        quantity.inside = false;
    }

    void distance(const char* name, double got, double tolerance, std::int64_t step)
    {
        note(named(name, "relative L2", tolerance), std::isnan(got) ? kNever : got, step);
    }

    VerifyReport report(const Trace& trace, bool exact) const
    {
        VerifyReport report{trace.id, true, exact, {m_quantities.begin(), m_quantities.end()}};
        for (const auto& quantity : report.quantities)
            report.inside = report.inside && quantity.inside;
        return report;
    }

private:
    VerifyQuantity& named(const char* name, const char* measure, double tolerance)
    {
        for (auto& quantity : m_quantities) {
            if (quantity.name == name)
                return quantity;
        }
        return m_quantities.emplace_back(VerifyQuantity{name, 0.0, measure, tolerance, -1, true});
    }

    static void note(VerifyQuantity& quantity, double away, std::int64_t step)
    {
        if (away < quantity.worst || (away == quantity.worst && quantity.step >= 0))
            return;
        quantity.worst = away;
        quantity.step = step;
        quantity.inside = away <= quantity.tolerance;
    }

    std::deque<VerifyQuantity> m_quantities; // A deque, so that references stay.
};

const Json* present(const Json& step, const char* key)
{
    const auto found = step.find(key);
    return found == step.end() || found->is_null() ? nullptr : &*found;
}

double lossAt(const Json& step, std::size_t batch, std::size_t rank)
{
    const Json& loss = step.at("loss").at(batch);
    return traceNumber(loss.is_array() ? loss.at(rank) : loss);
}

/// What is the same on all ranks and in every arithmetic.
void compareDecisions(Comparison& comparison, const Json& step, const StepReport& report)
{
    const auto number = [&](const char* key, std::optional<double> got) {
        if (const Json* wanted = present(step, key))
            comparison.equal(key, got.value_or(std::numeric_limits<double>::quiet_NaN()),
                             traceNumber(*wanted), report.step);
    };
    const auto whole = [](const std::optional<std::int64_t>& value) {
        return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    number("lr", report.learningRate);
    number("momentum", report.momentum);
    if (const Json* betas = present(step, "betas"))
        comparison.equal("betas", report.momentum.value_or(0.0), traceNumber(betas->at(0)), report.step);
    number("scale", report.lossScale);
    number("growth_tracker", whole(report.growthTracker));
    number("scale_after", report.lossScaleAfter);
    number("growth_tracker_after", whole(report.growthTrackerAfter));
    number("opt_step_count", report.optimizerSteps);
    if (const Json* wanted = present(step, "skipped"))
        comparison.equal("skipped", report.skipped, wanted->get<bool>(), report.step);
    if (const Json* wanted = present(step, "found_inf"))
        comparison.equal("found_inf", report.foundInf != 0.0, traceNumber(*wanted) != 0.0, report.step);
    if (const Json* wanted = present(step, "params_unchanged"))
        comparison.equal("params_unchanged", !report.parametersChanged, wanted->get<bool>(), report.step);
    comparison.equal("batches", report.batches, step.at("batches").get<std::vector<std::int64_t>>(),
                     report.step);
}

void compareRanks(Comparison& comparison, const Json& step, const Replay& replay, std::size_t index)
{
    for (std::size_t rank = 0; rank < replay.reports.size(); ++rank) {
        const StepReport& report = replay.reports[rank][index];
        if (const Json* wanted = present(step, "found_inf_per_rank"))
            comparison.equal("found_inf", report.foundInf != 0.0, traceNumber(wanted->at(rank)) != 0.0,
                             report.step);
        if (const Json* wanted = present(step, "local_nonfinite"))
            comparison.equal("local_nonfinite", report.foundInfHere, wanted->at(rank).get<bool>(),
                             report.step);
        if (const Json* wanted = present(step, "params_unchanged_per_rank"))
            comparison.equal("params_unchanged", !report.parametersChanged, wanted->at(rank).get<bool>(),
                             report.step);
    }
}

void compareLosses(Comparison& comparison, const Json& step, const Replay& replay, std::size_t index,
                   const Tolerances& tolerances)
{
    for (std::size_t rank = 0; rank < replay.reports.size(); ++rank) {
        const StepReport& report = replay.reports[rank][index];
        for (std::size_t batch = 0; batch < report.losses.size(); ++batch) {
            const double wanted = lossAt(step, batch, rank);
            if (index == 0 && batch == 0)
                comparison.number("first loss", report.losses[batch], wanted, tolerances.firstLoss, 0.0,
                                  report.step);
            comparison.number("loss", report.losses[batch], wanted, tolerances.loss, tolerances.lossAtol,
                              report.step);
        }
    }
}

void compareNorms(Comparison& comparison, const Json& step, const StepReport& report,
                  const Tolerances& tolerances)
{
    const auto compare = [&](const char* key, std::optional<double> got) {
        const Json* wanted = present(step, key);
        if (wanted && got)
            comparison.number(key, *got, traceNumber(*wanted), tolerances.norm, 0.0, report.step);
    };
    compare("grad_norm64", report.gradNorm);
    compare("grad_norm", report.totalNorm);
    compare("grad_norm64_clipped", report.gradNormClipped);
}

/// The key third of qkv.bias has no gradient but rounding noise, which Adam blows up to steps of full size.
at::Tensor withoutNoise(const std::string& name, const at::Tensor& tensor)
{
    const std::string kNoisy = "qkv.bias";
    if (name.size() < kNoisy.size() || name.substr(name.size() - kNoisy.size()) != kNoisy)
        return tensor;
    const std::int64_t third = tensor.size(0) / 3;
    return at::cat({tensor.narrow(0, 0, third), tensor.narrow(0, 2 * third, third)});
}

/// Relative L2 distance over all tensors; infinite where other elements are finite.
double distanceOf(const NamedTensors& got, const NamedTensors& wanted)
{
    double apart = 0.0;
    double size = 0.0;
    for (const auto& [name, tensor] : got) {
        const at::Tensor recorded = tensorNamed(wanted, name);
        if (!recorded.defined() || recorded.sizes() != tensor.sizes())
            return kNever;
        if (!tensor.is_floating_point())
            continue;
        const at::Tensor a = withoutNoise(name, tensor).to(at::kDouble);
        const at::Tensor b = withoutNoise(name, recorded).to(at::kDouble);
        const at::Tensor finite = b.isfinite();
        if (!at::equal(a.isfinite(), finite))
            return kNever;
        const at::Tensor kept = b.masked_select(finite);
        apart += (a.masked_select(finite) - kept).square().sum().item<double>();
        size += kept.square().sum().item<double>();
    }
    return size > 0.0 ? std::sqrt(apart / size) : std::sqrt(apart);
}

double meanLoss(const std::vector<double>& losses, std::size_t from)
{
    const auto count = static_cast<double>(losses.size() - from);
    return std::accumulate(losses.begin() + static_cast<std::ptrdiff_t>(from), losses.end(), 0.0) / count;
}

/// Pure 16 bit: the last quarter of the losses, as a mean.
void compareTrend(Comparison& comparison, const Trace& trace, const Replay& replay,
                  const Tolerances& tolerances)
{
    std::vector<double> got;
    std::vector<double> wanted;
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
        got.push_back(replay.reports[0][i].losses[0]);
        wanted.push_back(lossAt(trace.steps[i], 0, 0));
    }
    const std::size_t from = got.size() - (got.size() + 3) / 4;
    comparison.number("loss trend", meanLoss(got, from), meanLoss(wanted, from), kTrend, tolerances.lossAtol,
                      static_cast<std::int64_t>(got.size()) - 1);
}

bool sameLength(Comparison& comparison, const Trace& trace, const Replay& replay)
{
    const std::size_t steps = replay.reports.front().size();
    comparison.equal("steps", steps, trace.steps.size(), static_cast<std::int64_t>(steps));
    return steps == trace.steps.size();
}

} // namespace

VerifyReport compareWithin(const Trace& trace, const Replay& replay, const NamedTensors& recordedFinal)
{
    const Tolerances tolerances = tolerancesOf(trace);
    const std::size_t limit = trace.grade == TraceGrade::Half ? kHalfSteps
        : trace.chaotic                                       ? kChaoticSteps
                                                              : trace.steps.size();
    Comparison comparison;
    if (!sameLength(comparison, trace, replay))
        return comparison.report(trace, false);
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
        const Json& step = trace.steps[i];
        compareDecisions(comparison, step, replay.reports[0][i]);
        compareRanks(comparison, step, replay, i);
        if (i >= limit)
            continue;
        compareLosses(comparison, step, replay, i, tolerances);
        compareNorms(comparison, step, replay.reports[0][i], tolerances);
    }
    if (trace.grade == TraceGrade::Half && !trace.chaotic)
        compareTrend(comparison, trace, replay, tolerances);
    const auto last = static_cast<std::int64_t>(trace.steps.size()) - 1;
    if (trace.grade != TraceGrade::Half && !trace.chaotic) {
        comparison.distance("final parameters", distanceOf(replay.parameters, recordedFinal),
                            tolerances.parameters, last);
        if (!replay.buffers.empty())
            comparison.distance("final buffers", distanceOf(replay.buffers, recordedFinal),
                                tolerances.parameters, last);
    }
    return comparison.report(trace, false);
}

VerifyReport compareExactly(const Trace& trace, const Replay& replay)
{
    Comparison comparison;
    if (!sameLength(comparison, trace, replay))
        return comparison.report(trace, true);
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
        const Json& step = trace.steps[i];
        const StepReport& report = replay.reports[0][i];
        compareDecisions(comparison, step, report);
        for (std::size_t batch = 0; batch < report.losses.size(); ++batch) {
            const double wanted = lossAt(step, batch, 0);
            const bool same =
                report.losses[batch] == wanted || (std::isnan(report.losses[batch]) && std::isnan(wanted));
            comparison.equal("loss", same, true, report.step);
        }
        comparison.equal("params_crc32", replay.checksums[i], step.at("params_crc32").get<std::string>(),
                         report.step);
    }
    return comparison.report(trace, true);
}

} // namespace mantissa
