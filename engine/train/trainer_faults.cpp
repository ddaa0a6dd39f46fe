#include "engine/train/trainer_faults.h"

#include "engine/recipe/scalar.h"
#include "engine/train/rank_failure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>

namespace mantissa {
namespace {

constexpr std::int64_t kNoBatch = -1;

double valueOf(const FaultPlan& fault)
{
    switch (fault.kind) {
    case FaultKind::Inf:
        return std::numeric_limits<double>::infinity();
    case FaultKind::NaN:
        return std::numeric_limits<double>::quiet_NaN();
    default:
        return fault.value;
    }
}

std::string words(double value)
{
    if (std::isfinite(value))
        return numberText(value);
    return std::isnan(value) ? "NaN" : value > 0.0 ? "Inf" : "-Inf";
}

bool isNonfinite(const FaultPlan& fault)
{
    return fault.kind == FaultKind::Inf || fault.kind == FaultKind::NaN;
}

void stall(double seconds, std::stop_token stop)
{
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::move(stop), std::chrono::duration<double>(seconds), [] { return false; });
}

} // namespace

Faults::Faults(const RunPlan& plan, int rank) : m_rank(rank)
{
    for (const auto& fault : plan.faults) {
        if (fault.rank < 0 || fault.rank == rank)
            m_faults.push_back(fault);
    }
}

bool Faults::hits(const FaultPlan& fault, const StepReport& report, std::int64_t globalBatch) const
{
    return fault.batch >= 0 ? fault.batch == globalBatch : fault.step == report.step;
}

void Faults::note(StepReport& report, const FaultPlan& fault, Stage stage, const std::string& what)
{
    const std::string words = "Made on purpose: " + what + ".";
    const bool repeated = std::any_of(report.notes.begin(), report.notes.end(), [&](const StepNote& note) {
        return note.kind == "injected" && note.message == words;
    });
    if (!repeated || fault.batch >= 0) // Once for the whole window is enough.
        report.notes.push_back({"injected", stage, words});
}

void Faults::beforeBatch(StepReport& report, std::int64_t globalBatch, std::stop_token stop) const
{
    for (const auto& fault : m_faults) {
        const bool firstOfWindow = report.batches.size() <= 1;
        if (!firstOfWindow || !hits(fault, report, globalBatch))
            continue;
        if (fault.kind == FaultKind::Throw)
            throw FailureOnPurpose("a failure made on purpose (mantissa.inject) on rank "
                                   + std::to_string(m_rank));
        if (fault.kind == FaultKind::Stall) {
            note(report, fault, Stage::Data, "a stall of " + words(fault.value) + " s");
            stall(fault.value, stop);
        }
    }
}

at::Tensor Faults::onLoss(StepReport& report, at::Tensor loss, std::int64_t globalBatch) const
{
    for (const auto& fault : m_faults) {
        const bool later = fault.afterBackward || fault.afterReduction;
        const bool shows = fault.kind == FaultKind::Spike || (isNonfinite(fault) && !later);
        if (!shows || !hits(fault, report, globalBatch))
            continue;
        note(report, fault, Stage::Loss, "the loss was multiplied by " + words(valueOf(fault)));
        loss = loss * valueOf(fault);
    }
    return loss;
}

at::Tensor Faults::onBackward(StepReport& report, at::Tensor loss, std::int64_t globalBatch) const
{
    for (const auto& fault : m_faults) {
        if (fault.kind != FaultKind::Factor || !hits(fault, report, globalBatch))
            continue;
        note(report, fault, Stage::Backward,
             "the backward pass began at " + words(fault.value) + " times the loss");
        loss = loss * fault.value;
    }
    return loss;
}

std::optional<double> Faults::onGradient(StepReport& report) const
{
    if (!report.losses.empty()) // one micro batch of the window is enough
        return std::nullopt;
    for (const auto& fault : m_faults) {
        if (!isNonfinite(fault) || !fault.afterBackward || !hits(fault, report, kNoBatch))
            continue;
        report.notes.push_back(
            {"injected", Stage::Backward,
             "Made on purpose: one gradient element became " + words(valueOf(fault)) + "."});
        return valueOf(fault);
    }
    return std::nullopt;
}

void Faults::onReduced(StepReport& report, const std::vector<at::Tensor>& gradients) const
{
    const at::NoGradGuard noGrad;
    for (const auto& fault : m_faults) {
        if (!isNonfinite(fault) || !fault.afterReduction || !hits(fault, report, kNoBatch))
            continue;
        for (const auto& gradient : gradients) {
            if (gradient.numel() == 0)
                continue;
            gradient.flatten().narrow(0, 0, 1).fill_(valueOf(fault));
            report.notes.push_back(
                {"injected", Stage::Reduce,
                 "Made on purpose: one reduced gradient element became " + words(valueOf(fault)) + "."});
            break;
        }
    }
}

FaultyWeights::~FaultyWeights()
{
    if (m_hooked.defined())
        m_hooked.remove_hook(m_hook);
}

std::vector<at::Tensor> FaultyWeights::enter(int unit)
{
    auto weights = m_weights.enter(unit);
    const bool learns = at::GradMode::is_enabled(); // else no gradient comes back this way
    if (learns && !m_hooked.defined() && !weights.empty() && weights.front().requires_grad()) {
        m_hooked = weights.front();
        m_hook = m_hooked.register_hook([value = m_value](const at::Tensor& gradient) {
            const at::NoGradGuard noGrad;
            at::Tensor faulty = gradient.clone(at::MemoryFormat::Contiguous);
            faulty.view({-1}).narrow(0, 0, 1).fill_(value);
            return faulty;
        });
    }
    return weights;
}

} // namespace mantissa
