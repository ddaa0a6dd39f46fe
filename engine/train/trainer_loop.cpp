#include "engine/train/trainer_impl.h"

#include <algorithm>
#include <cmath>

// What happens around the optimizer steps, in Lightning's order: callbacks, validation, the end.
namespace mantissa {

double Trainer::Impl::gradientFactor() const
{
    return m_precision->scaler() && !m_unscaled ? m_scale : 1.0;
}

std::optional<double> Trainer::Impl::metric(std::string_view series) const
{
    const auto found = m_metrics.find(series);
    return found == m_metrics.end() ? std::nullopt : std::optional(found->second);
}

void Trainer::Impl::log(std::string_view series, double value)
{
    m_metrics.insert_or_assign(std::string(series), value);
    m_report->logged.push_back({std::string(series), value});
}

void Trainer::Impl::note(std::string kind, Stage stage, std::string message)
{
    m_report->notes.push_back({std::move(kind), stage, std::move(message)});
}

void Trainer::Impl::keep(std::vector<TensorHistogram> histograms)
{
    for (auto& histogram : histograms)
        histogram.step = m_report->step;
    m_report->histograms = std::move(histograms);
}

void Trainer::Impl::requestStop(const std::string& why)
{
    if (!m_stopAsked && m_communicator.rank() == 0)
        note("stop_asked", Stage::Record, why);
    m_stopAsked = true;
}

void Trainer::Impl::setLearningRate(double rate)
{
    m_ownRate = rate;
    m_report->learningRate = rate;
    optimizer().setLearningRate(rate);
}

bool Trainer::Impl::mayStop() const
{
    return m_stopAsked && m_epoch >= m_plan.minEpochs && m_step >= m_plan.minSteps;
}

/// Before the first step: the sanity check tries validation while little is lost.
void Trainer::Impl::begin()
{
    m_begun = true;
    call(&Callback::setup);
    m_callbacks.loadStateDict(std::exchange(m_storedCallbacks, {}));
    call(&Callback::onFitStart);
    const auto& rounds = m_prepared->validation;
    if (rounds.set && rounds.sanity > 0 && m_step == 0) {
        const auto metrics = m_metrics;
        call(&Callback::onSanityCheckStart);
        (void)validateRound(rounds.sanity);
        call(&Callback::onSanityCheckEnd);
        m_metrics = metrics; // its numbers are of no weights that were trained
        if (m_communicator.rank() == 0)
            note("sanity_check", Stage::FitStart,
                 std::to_string(rounds.sanity) + " validation "
                     + (rounds.sanity == 1 ? "batch was" : "batches were") + " tried before training.");
    }
    call(&Callback::onTrainStart);
}

void Trainer::Impl::rememberMetrics(const StepReport& report)
{
    const auto remember = [this](const std::string& name, std::optional<double> value) {
        if (value)
            m_metrics.insert_or_assign(name, *value);
    };
    remember("loss", report.loss);
    remember("accuracy", report.accuracy);
    remember("skipped", static_cast<double>(report.skippedSteps));
    for (std::size_t i = 0; i < report.turns.size(); ++i) {
        const auto& series = m_plan.ownOptimizers[i].series;
        remember("loss_" + series, report.turns[i].loss);
        remember("grad_norm_" + series, report.turns[i].gradNorm);
    }
    remember("loss_scale", report.lossScale);
    remember("grad_norm", report.gradNorm);
    remember("grad_norm_clipped", report.gradNormClipped);
    remember("grad_norm_scaled", report.gradNormScaled);
    remember("param_norm", report.paramNorm);
    remember("update_ratio", report.updateRatio);
    remember("stalled_share", report.stalledShare);
    remember("lr", report.learningRate);
}

void Trainer::Impl::beginWindow(StepReport& report)
{
    m_report = &report;
    m_left = 0;
    m_unscaled = false;
    if (!m_begun)
        begin();
    if (m_batch == 0)
        call(&Callback::onTrainEpochStart);
}

/// After a micro batch that no step follows.
void Trainer::Impl::closeBatch()
{
    call(&Callback::onTrainBatchEnd);
    validateIfDue(m_batch + 1, m_globalBatch + 1);
}

/// Nothing is left of the window: no gradient, and so no step.
bool Trainer::Impl::leftOut(StepReport& report)
{
    report.leftOut = m_left > 0 && m_left == static_cast<std::int64_t>(report.losses.size());
    if (report.leftOut)
        noteStep(report, true);
    return report.leftOut;
}

/// After a step: what follows a batch, then validation, then what follows an epoch and the training.
void Trainer::Impl::close(StepReport& report)
{
    rememberMetrics(report);
    call(&Callback::onTrainBatchEnd);
    validateIfDue(report.endsEpoch ? m_prepared->loader->batchesPerEpoch() : m_batch, m_globalBatch);
    if (report.endsEpoch || mayStop())
        call(&Callback::onTrainEpochEnd);
    if (report.endsEpoch && isDue(ScheduleInterval::Epoch))
        m_schedule.advance();
    if (finished())
        call(&Callback::onTrainEnd);
    m_report = nullptr;
}

void Trainer::Impl::validateIfDue(std::int64_t ofEpoch, std::int64_t ofRun)
{
    const auto& rounds = m_prepared->validation;
    const std::int64_t everyEpochs = m_plan.validation.everyEpochs;
    if (!rounds.set || (everyEpochs > 0 && (epoch() + 1) % everyEpochs != 0))
        return;
    const std::int64_t passed = everyEpochs > 0 ? ofEpoch : ofRun;
    if (passed % rounds.interval != 0 && !(m_endsWindow && mayStop()))
        return;
    const ValidationResult result = validateRound(rounds.batches);
    log(kValLoss, result.loss);
    log(kValAccuracy, result.accuracy);
    if (const auto& watched = m_plan.schedule.plateau.monitor; watched == kValLoss || watched == kValAccuracy)
        m_schedule.observe(watched == kValLoss ? result.loss : result.accuracy);
    if (modelFace(m_plan.model).input == InputKind::Tokens)
        log(kValPerplexity, std::exp(result.loss));
    call(&Callback::onValidationEpochEnd);
    call(&Callback::onValidationEnd);
}

ValidationResult Trainer::Impl::validateRound(std::int64_t batches)
{
    call(&Callback::onValidationStart);
    call(&Callback::onValidationEpochStart);
    return validate({*m_prepared->validation.set, *m_model, *m_strategy, *m_precision, m_communicator},
                    batches);
}

bool Trainer::Impl::leavesOut(double loss)
{
    const bool leaves = !m_callbacks.empty() && !m_callbacks.onBeforeBackward(*this, loss);
    m_left += leaves ? 1 : 0;
    return leaves;
}

void Trainer::Impl::forwardOverEpoch(const std::function<void(std::int64_t)>& before)
{
    const at::NoGradGuard noGrad;
    m_prepared->loader->seek(m_communicator.rank(), {m_plan.maxEpochs, 0});
    for (std::int64_t batch = 0; batch < m_prepared->loader->batchesPerEpoch(); ++batch) {
        before(batch);
        const Batch next = m_prepared->loader->next(m_communicator.rank());
        const AutocastScope context = m_precision->forwardContext();
        (void)m_model->forward(m_precision->convertInput(next.input), *m_strategy, true);
        m_strategy->endOfStep();
    }
}

} // namespace mantissa
