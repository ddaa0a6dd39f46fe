#include "engine/recipe/scalar.h"
#include "engine/train/parameter_hash.h"
#include "engine/train/trainer_impl.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace mantissa {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kParameterNormEvery =
    10; // It changes slowly, and a pass over all weights is not free.

at::Tensor lossFrom(const at::Tensor& scores, const at::Tensor& wanted)
{
    return wanted.is_floating_point()
        ? at::binary_cross_entropy_with_logits(scores, wanted.to(scores.scalar_type()))
        : at::cross_entropy_loss(scores, wanted);
}

at::Tensor rightOnes(const Answers& answers)
{
    return answers.wanted.is_floating_point() ? answers.scores.gt(0.0).eq(answers.wanted.gt(0.5))
                                              : answers.scores.argmax(1).eq(answers.wanted);
}

std::unique_ptr<Precision> makePrecision(const RunPlan& plan, Communicator& communicator,
                                         const TrainerSeams& seams)
{
    return seams.makePrecision ? seams.makePrecision(plan, communicator)
                               : std::make_unique<Precision>(plan, communicator);
}

void restoreBuffers(Model& model, const NamedTensors& stored)
{
    const at::NoGradGuard noGrad;
    for (auto& [name, buffer] : model.buffers()) {
        if (const at::Tensor value = tensorNamed(stored, name); value.defined())
            buffer.copy_(value);
    }
}

} // namespace

Trainer::Impl::Impl(std::shared_ptr<PreparedRun> prepared, Communicator& communicator,
                    const TrainerSeams& seams)
    : m_prepared(std::move(prepared)),
      m_plan(m_prepared->plan),
      m_measures(seams.measures),
      m_onLayer(seams.onLayer),
      m_communicator(communicator),
      m_precision(makePrecision(m_plan, communicator, seams)),
      m_model(makeModel(m_plan.model, m_plan.seed, communicator.rank())),
      m_strategy([&] {
          restoreBuffers(*m_model, m_prepared->buffers);
          m_precision->convertModule(*m_model);
          return makeStrategy(m_plan, *m_model, weightSource(*m_prepared), communicator);
      }()),
      m_recompute(*m_strategy, *m_model),
      m_weights(m_plan.recompute ? static_cast<WeightAccess&>(m_recompute) : *m_strategy),
      m_turns(makeTurns(m_plan, *m_model, *m_strategy)),
      m_schedule(m_plan.schedule, m_plan.optimizer.learningRate),
      m_faults(m_plan, communicator.rank()),
      m_callbacks(m_plan.callbacks)
{
    if (seams.addCallbacks)
        seams.addCallbacks(m_callbacks);
    if (m_plan.checkpoints.everyEpochs > 0) // Checkpoints come last: they hold what the others did.
        m_callbacks.add("ModelCheckpoint", makeCheckpointMoments(m_plan.checkpoints));
    if (m_prepared->from)
        restore(*m_prepared->from);
}

bool Trainer::Impl::finished() const
{
    return m_epoch >= m_plan.maxEpochs || (m_plan.maxSteps >= 0 && m_step >= m_plan.maxSteps) || mayStop();
}

StepReport Trainer::Impl::step(const std::stop_token& stop)
{
    StepReport report = openWindow();
    beginWindow(report);
    if (optimizesManually())
        updateInTurns(report, stop);
    else if (m_plan.optimizer.needsClosure())
        updateByClosure(report, stop);
    else
        updateOnce(report, stop);
    record(report);
    advance(report);
    report.stepSeconds = m_watch.seconds();
    close(report);
    return report;
}

void Trainer::Impl::updateOnce(StepReport& report, const std::stop_token& stop)
{
    accumulateGradients(report, stop);
    if (leftOut(report))
        return;
    stepOptimizer(report);
}

void Trainer::Impl::stepOptimizer(StepReport& report)
{
    finishGradients(report);
    update(report);
    updateScale(report);
}

void Trainer::Impl::finishGradients(StepReport& report)
{
    reduceGradients(report);
    unscale(report);
    call(&Callback::onBeforeOptimizerStep);
    clip(report);
}

StepReport Trainer::Impl::openWindow()
{
    StepReport report;
    report.step = m_step;
    report.epoch = m_epoch;
    report.learningRate = m_ownRate.value_or(m_schedule.rate());
    report.notes = std::exchange(m_notCarried, {});
    m_watch.begin(m_step);
    m_sums = {};
    m_turnSums.assign(m_turns.size(), {});
    m_tally = {};
    optimizer().setLearningRate(report.learningRate); // the model's own ones keep their rates
    report.momentum = m_schedule.momentum();
    if (report.momentum)
        optimizer().setMomentum(*report.momentum);
    setScaleByHand();
    m_strategy->zeroGradients();
    return report;
}

void Trainer::Impl::setScaleByHand()
{
    const auto found = m_plan.scaler.byHand.find(m_step);
    if (m_precision->scaler() && found != m_plan.scaler.byHand.end())
        m_precision->scaler()->state().setScale(static_cast<float>(found->second));
}

std::int64_t Trainer::Impl::windowEnd() const
{
    const std::int64_t window = accumulateAt(m_plan, m_epoch);
    return std::min((m_batch / window + 1) * window, m_prepared->loader->batchesPerEpoch());
}

double Trainer::Impl::divisor(std::int64_t batches) const
{
    // The ecosystem divides a short last window by the full number too; its update is then too small.
    return static_cast<double>(m_plan.divideLastWindowBySize ? batches : accumulateAt(m_plan, m_epoch));
}

void Trainer::Impl::accumulateGradients(StepReport& report, const std::stop_token& stop)
{
    const std::int64_t end = windowEnd();
    const double parts = divisor(end - m_batch);
    for (; m_batch < end; ++m_batch, ++m_globalBatch) {
        const Batch batch = fetch(report, m_batch, stop);
        pass(report, batch, parts, m_batch + 1 == end);
        if (m_plan.optimizer.needsClosure())
            m_window.push_back(batch);
        if (!m_endsWindow)
            closeBatch();
    }
}

/// Forward and backward of one micro batch.
void Trainer::Impl::pass(StepReport& report, const Batch& batch, double parts, bool last)
{
    WeightAccess* weights = &m_weights;
    std::optional<FaultyWeights> faulty;
    if (const auto value = m_faults.onGradient(report))
        weights = &faulty.emplace(*weights, *value);
    std::optional<LayerProbe> probe;
    if (probes() || m_onLayer)
        weights = &probe.emplace(*weights, *m_model,
                                 m_onLayer ? m_onLayer : readingInto(m_readings, m_globalBatch));
    const at::Tensor loss = lossOf(report, batch, *weights);
    if (probe)
        probe->loss(loss);
    backward(report, loss / parts, last);
}

Batch Trainer::Impl::fetch(StepReport& report, std::int64_t batch, const std::stop_token& stop)
{
    m_watch.enter(report, Stage::Data);
    report.batches.push_back(batch);
    m_endsWindow = batch + 1 == windowEnd();
    call(&Callback::onTrainBatchStart);
    m_faults.beforeBatch(report, m_globalBatch, stop);
    const auto began = Clock::now();
    Batch next = m_prepared->loader->next(m_communicator.rank());
    report.dataSeconds += std::chrono::duration<double>(Clock::now() - began).count();
    return next;
}

at::Tensor Trainer::Impl::lossOf(StepReport& report, const Batch& batch, WeightAccess& weights)
{
    m_watch.enter(report, Stage::ConvertInput);
    const at::Tensor input = m_precision->convertInput(batch.input);
    const AutocastScope context = m_precision->forwardContext();
    m_watch.enter(report, Stage::Forward);
    Answers answers = m_model->answer({input, batch.target}, weights,
                                      {m_turn, m_globalBatch, m_communicator.rank(), m_communicator.size()});
    m_watch.enter(report, Stage::Loss);
    at::Tensor loss = lossFrom(m_precision->convertOutput(answers.scores), answers.wanted);
    loss = m_faults.onLoss(report, loss, m_globalBatch);
    report.losses.push_back(loss.item<double>());
    m_sums.loss += report.losses.back();
    m_turnSums[m_turn].loss += report.losses.back();
    ++m_turnSums[m_turn].passes;
    if (m_turn > 0) // the batch was counted in the first turn
        return loss;
    m_sums.rows += static_cast<double>(batch.input.size(0));
    countAnswers(answers);
    return loss;
}

void Trainer::Impl::countAnswers(const Answers& answers)
{
    if (!m_measures)
        return;
    const at::NoGradGuard noGrad;
    m_sums.correct += rightOnes(answers).sum().item<double>();
    m_sums.answers += static_cast<double>(answers.wanted.numel());
}

void Trainer::Impl::backward(StepReport& report, const at::Tensor& loss, bool last)
{
    const bool isLeftOut = leavesOut(report.losses.back());
    m_strategy->setSync(!isLeftOut && (last || !m_plan.noSync));
    if (isLeftOut) { // its forward pass is cleared away; the others of the window are reduced at its end
        m_strategy->endOfBackward();
        return;
    }
    at::Tensor root = m_faults.onBackward(report, loss, m_globalBatch);
    if (m_precision->scaler()) {
        m_watch.enter(report, Stage::Scale);
        root = m_precision->preBackward(root);
    }
    m_watch.enter(report, Stage::Backward);
    root.backward();
    m_strategy->endOfBackward();
    call(&Callback::onAfterBackward);
}

void Trainer::Impl::reduceGradients(StepReport& report)
{
    if (m_communicator.size() > 1)
        m_watch.enter(report, Stage::Reduce);
    m_strategy->reduceGradients();
    const NonfiniteTally nonfinite = m_strategy->takeNonfiniteBefore();
    report.nonfiniteBefore += nonfinite.count;
    if (nonfinite.deepest && report.nonfiniteFirst.empty())
        report.nonfiniteFirst = m_strategy->parameterNames()[*nonfinite.deepest];
    m_faults.onReduced(report, optimizer().gradients());
}

double Trainer::Impl::squaresOf(const std::vector<at::Tensor>& gradients) const
{
    return m_measures ? sumOfSquares(gradients) : 0.0;
}

bool Trainer::Impl::measuresParameters() const
{
    return m_step % kParameterNormEvery == 0;
}

bool Trainer::Impl::mustUnscale() const
{
    if (!m_precision->scaler())
        return false;
    // The Trainer leaves unscaling to such an optimizer even where it then clips; Fabric's clipping asks for
    // it first.
    const bool asTrainer = m_plan.mode == RunMode::Faithful && m_plan.framework == "trainer";
    const bool clips = m_plan.clip.kind != ClipKind::None && !asTrainer;
    return m_plan.explicitUnscale || clips || !m_turns[m_turn].optimizer->selfUnscaling();
}

void Trainer::Impl::unscale(StepReport& report)
{
    auto* scaler = m_precision->scaler();
    m_scale = scaler ? static_cast<double>(scaler->state().now().scale) : 1.0;
    if (scaler && !report.lossScale) {
        report.lossScale = m_scale;
        report.growthTracker = scaler->state().now().growthTracker;
    }
    m_unscaled = mustUnscale();
    if (m_unscaled) {
        m_watch.enter(report, Stage::Unscale);
        m_precision->unscaleGradients(optimizer());
    }
    // One pass over the gradients; the norm on the other side of the scale follows from it.
    const bool stillScaled = scaler && !m_unscaled;
    const double squares = squaresOf(optimizer().gradients());
    m_sums.scaledSquares += stillScaled ? squares : squares * m_scale * m_scale;
    const double unscaled = stillScaled ? squares / (m_scale * m_scale) : squares;
    m_sums.gradientSquares += unscaled;
    m_turnSums[m_turn].gradientSquares += unscaled;
}

void Trainer::Impl::clip(StepReport& report)
{
    if (m_plan.clip.kind == ClipKind::None)
        return;
    m_watch.enter(report, Stage::Clip);
    if (m_plan.clip.kind == ClipKind::Norm)
        report.totalNorm =
            m_precision->clipGradByNorm(optimizer(), m_plan.clip.value, m_plan.clip.normType, *m_strategy);
    else
        m_precision->clipGradByValue(optimizer(), m_plan.clip.value);
    m_sums.clippedSquares += squaresOf(optimizer().gradients());
}

void Trainer::Impl::update(StepReport& report)
{
    m_watch.enter(report, Stage::Optimizer);
    const bool skipped = m_precision->optimizerStep(optimizer());
    noteStep(report, skipped);
    if (auto* scaler = m_precision->scaler()) {
        report.foundInf = std::max(report.foundInf, skipped ? 1.0 : 0.0);
        report.foundInfHere = report.foundInfHere || scaler->foundHere(0);
    }
    m_strategy->endOfStep();
}

void Trainer::Impl::updateScale(StepReport& report)
{
    auto* scaler = m_precision->scaler();
    if (!scaler)
        return;
    m_watch.enter(report, Stage::UpdateScale);
    m_precision->updateScale();
    report.lossScaleAfter = static_cast<double>(scaler->state().now().scale);
    report.growthTrackerAfter = scaler->state().now().growthTracker;
    const double floor = m_plan.scaler.floor;
    if (*report.lossScaleAfter < floor && m_scale >= floor)
        report.notes.push_back({"scale_floor", Stage::UpdateScale,
                                "The loss scale fell below " + numberText(floor)
                                    + ": the gradients overflow whatever the scale is."});
}

void Trainer::Impl::advance(const StepReport& report)
{
    ++m_step;
    if (m_plan.schedule.plateau.monitor == "loss")
        m_schedule.observe(report.loss);
    const bool held = report.skipped && m_plan.schedule.holdOnSkip;
    if (isDue(ScheduleInterval::Step) && !held)
        m_schedule.advance();
    if (!report.endsEpoch)
        return;
    m_batch = 0;
    ++m_epoch;
}

/// Lightning counts a schedule's frequency in batches of the epoch, or in epochs.
bool Trainer::Impl::isDue(ScheduleInterval interval) const
{
    const std::int64_t passed = interval == ScheduleInterval::Step ? m_batch : m_epoch;
    return m_plan.schedule.interval == interval && passed % m_plan.schedule.frequency == 0;
}

void Trainer::Impl::record(StepReport& report)
{
    m_watch.enter(report, Stage::Record);
    report.endsEpoch = m_batch >= m_prepared->loader->batchesPerEpoch();
    if (!optimizesManually())
        measureUpdate();
    report.parametersChanged = m_tally.changed > 0.0;
    if (measuresParameters())
        m_sums.parameterSquares = squaresOf(m_strategy->parameters());
    if (m_plan.hashParameters)
        report.parameterHash = parameterHash(m_strategy->parameters());
    if (probes())
        noteReadings(report, std::exchange(m_readings, {}));
    addUpTurns(report);
    addUpRanks(m_tally);
    fillReport(report, m_tally);
    closeFp8(report);
    for (const auto& turn : m_turns)
        report.optimizerSteps += turn.optimizer->stepCount();
    report.commSeconds = m_communicator.takeSeconds();
    report.memoryBytes = m_strategy->peakParameterBytes();
    if (m_step == 0 && m_communicator.rank() == 0)
        report.notes.push_back({"memory", Stage::Record, memoryWords(measuredMemory(), estimatedMemory())});
}

} // namespace mantissa
