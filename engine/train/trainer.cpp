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

std::unique_ptr<Precision> makePrecision(const RunPlan& plan, Communicator& communicator,
                                         const TrainerSeams& seams)
{
    return seams.makePrecision ? seams.makePrecision(plan, communicator)
                               : std::make_unique<Precision>(plan, communicator);
}

std::vector<ParameterShape> shapesOf(const Model& model)
{
    std::vector<ParameterShape> shapes;
    for (const auto& spec : model.parameters())
        shapes.push_back({spec.name, static_cast<std::int64_t>(spec.shape.size())});
    return shapes;
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
      m_optimizer(makeOptimizer(m_plan.optimizer, m_strategy->parameters(), shapesOf(*m_model))),
      m_schedule(m_plan.schedule, m_plan.optimizer.learningRate),
      m_faults(m_plan, communicator.rank()),
      m_meter(m_strategy->parameters()),
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
    if (m_plan.optimizer.needsClosure())
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
    m_optimizer->setLearningRate(report.learningRate);
    report.momentum = m_schedule.momentum();
    if (report.momentum)
        m_optimizer->setMomentum(*report.momentum);
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
        WeightAccess* weights = &m_weights;
        std::optional<FaultyWeights> faulty;
        if (const auto value = m_faults.onGradient(report))
            weights = &faulty.emplace(*weights, *value);
        std::optional<LayerProbe> probe;
        if (probes())
            weights = &probe.emplace(*weights, *m_model, m_globalBatch, m_readings);
        const at::Tensor loss = lossOf(report, batch, *weights);
        if (probe)
            probe->loss(loss);
        backward(report, loss / parts, m_batch + 1 == end);
        if (m_plan.optimizer.needsClosure())
            m_window.push_back(batch);
        if (!m_endsWindow)
            closeBatch();
    }
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
    const at::Tensor logits = m_model->forward(input, weights, true);
    m_watch.enter(report, Stage::Loss);
    const at::Tensor target = batch.target.reshape({-1});
    at::Tensor loss = at::cross_entropy_loss(m_precision->convertOutput(logits), target);
    loss = m_faults.onLoss(report, loss, m_globalBatch);
    report.losses.push_back(loss.item<double>());
    m_sums.loss += report.losses.back();
    m_sums.rows += static_cast<double>(batch.input.size(0));
    countAnswers(logits, target);
    return loss;
}

void Trainer::Impl::countAnswers(const at::Tensor& logits, const at::Tensor& target)
{
    if (!m_measures)
        return;
    const at::NoGradGuard noGrad;
    m_sums.correct += logits.argmax(1).eq(target).sum().item<double>();
    m_sums.answers += static_cast<double>(target.numel());
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
    report.nonfiniteBefore = nonfinite.count;
    if (nonfinite.deepest)
        report.nonfiniteFirst = m_strategy->parameterNames()[*nonfinite.deepest];
    m_faults.onReduced(report, m_optimizer->gradients());
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
    return m_plan.explicitUnscale || clips || !m_optimizer->selfUnscaling();
}

void Trainer::Impl::unscale(StepReport& report)
{
    auto* scaler = m_precision->scaler();
    double scale = 1.0;
    if (scaler) {
        scale = static_cast<double>(scaler->state().now().scale);
        report.lossScale = scale;
        report.growthTracker = scaler->state().now().growthTracker;
    }
    m_unscaled = mustUnscale();
    if (m_unscaled) {
        m_watch.enter(report, Stage::Unscale);
        m_precision->unscaleGradients(*m_optimizer);
    }
    // One pass over the gradients; the norm on the other side of the scale follows from it.
    const bool stillScaled = scaler && !m_unscaled;
    const double squares = squaresOf(m_optimizer->gradients());
    m_sums.scaledSquares = stillScaled ? squares : squares * scale * scale;
    m_sums.gradientSquares = stillScaled ? squares / (scale * scale) : squares;
}

void Trainer::Impl::clip(StepReport& report)
{
    if (m_plan.clip.kind == ClipKind::None)
        return;
    m_watch.enter(report, Stage::Clip);
    if (m_plan.clip.kind == ClipKind::Norm)
        report.totalNorm =
            m_precision->clipGradByNorm(*m_optimizer, m_plan.clip.value, m_plan.clip.normType, *m_strategy);
    else
        m_precision->clipGradByValue(*m_optimizer, m_plan.clip.value);
    m_sums.clippedSquares = squaresOf(m_optimizer->gradients());
}

void Trainer::Impl::update(StepReport& report)
{
    m_watch.enter(report, Stage::Optimizer);
    report.skipped = m_precision->optimizerStep(*m_optimizer);
    if (auto* scaler = m_precision->scaler()) {
        report.foundInf = report.skipped ? 1.0 : 0.0;
        report.foundInfHere = scaler->foundHere(0);
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
    if (*report.lossScaleAfter < floor && *report.lossScale >= floor)
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
    UpdateTally tally = m_measures ? m_meter.measure(m_strategy->parameters()) : UpdateTally{};
    report.parametersChanged = tally.changed > 0.0;
    if (measuresParameters())
        m_sums.parameterSquares = squaresOf(m_strategy->parameters());
    if (m_plan.hashParameters)
        report.parameterHash = parameterHash(m_strategy->parameters());
    if (probes())
        noteReadings(report, std::exchange(m_readings, {}));
    addUpRanks(tally);
    fillReport(report, tally);
    report.optimizerSteps = m_optimizer->stepCount();
    report.commSeconds = m_communicator.takeSeconds();
    report.memoryBytes = m_strategy->peakParameterBytes();
    if (m_step == 0 && m_communicator.rank() == 0)
        report.notes.push_back({"memory", Stage::Record, memoryWords(measuredMemory(), estimatedMemory())});
}

} // namespace mantissa
