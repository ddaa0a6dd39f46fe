#pragma once

#include "engine/callbacks/callback_list.h"
#include "engine/model/model.h"
#include "engine/optim/optimizer.h"
#include "engine/optim/schedule.h"
#include "engine/precision/precision.h"
#include "engine/strategy/recompute.h"
#include "engine/strategy/strategy.h"
#include "engine/train/layer_probe.h"
#include "engine/train/prepared_run.h"
#include "engine/train/trainer.h"
#include "engine/train/trainer_faults.h"
#include "engine/train/trainer_meter.h"
#include "engine/train/trainer_state.h"
#include "engine/train/trainer_turns.h"
#include "engine/train/trainer_watch.h"
#include "engine/train/validation.h"

#include <map>

namespace mantissa {

/// What a window adds up for the report, this rank's part.
struct WindowSums {
    double loss = 0.0;
    double correct = 0.0;
    double answers = 0.0; ///< Rows, or tokens of a language model.
    double rows = 0.0;
    double scaledSquares = 0.0;
    double gradientSquares = 0.0;
    double clippedSquares = 0.0;
    double parameterSquares = 0.0; ///< Only at steps that measure them.
};

class Trainer::Impl final : public TrainingView {
public:
    Impl(std::shared_ptr<PreparedRun> prepared, Communicator& communicator, const TrainerSeams& seams);

    bool finished() const;
    StepReport step(const std::stop_token& stop);
    TrainerPlace place() const { return m_watch.place(); }
    TrainerState state();

    const RunPlan& plan() const override { return m_plan; }
    Communicator& communicator() override { return m_communicator; }
    Strategy& strategy() override { return *m_strategy; }
    Model& model() override { return *m_model; }
    Optimizer& optimizer() override { return *m_turns[m_turn].optimizer; } ///< Whose turn it is.
    std::int64_t step() const override { return m_step; }
    std::int64_t epoch() const override { return m_report->epoch; }
    std::int64_t batch() const override { return m_report->batches.empty() ? 0 : m_report->batches.back(); }
    bool endsWindow() const override { return m_endsWindow; }
    bool skipped() const override { return m_report->skipped; }
    double gradientFactor() const override;
    std::optional<double> metric(std::string_view series) const override;
    void log(std::string_view series, double value) override;
    void note(std::string kind, Stage stage, std::string message) override;
    void keep(std::vector<TensorHistogram> histograms) override;
    void requestStop(const std::string& why) override;
    void requestCheckpoint() override { m_report->checkpointDue = true; }
    void setLearningRate(double rate) override;
    double learningRate() const override { return m_report->learningRate; }
    void forwardOverEpoch(const std::function<void(std::int64_t)>& before) override;
    CallbackList& callbacks() { return m_callbacks; }

private:
    // The paragraphs of a step, in order.
    StepReport openWindow();
    void accumulateGradients(StepReport& report, const std::stop_token& stop);
    void reduceGradients(StepReport& report);
    void unscale(StepReport& report);
    void clip(StepReport& report);
    void update(StepReport& report);
    void stepOptimizer(StepReport& report);
    void finishGradients(StepReport& report); ///< From the backward passes to what the optimizer takes.
    void noteStep(StepReport& report, bool skipped);
    void updateOnce(StepReport& report, const std::stop_token& stop);
    void updateInTurns(StepReport& report, const std::stop_token& stop);
    void takeTurn(StepReport& report, const Batch& batch);
    void pass(StepReport& report, const Batch& batch, double parts, bool last);
    void updateByClosure(StepReport& report, const std::stop_token& stop);
    double evaluate(StepReport& report, const std::stop_token& stop);
    double evaluateAgain(const StepReport& report);
    void updateScale(StepReport& report);
    void advance(const StepReport& report);
    // Around the steps: trainer_loop.cpp.
    void begin();
    void beginWindow(StepReport& report);
    void closeBatch();
    bool leftOut(StepReport& report);
    void close(StepReport& report);
    void call(void (Callback::*hook)(TrainingView&)) { m_callbacks.call(hook, *this); }
    void validateIfDue(std::int64_t ofEpoch, std::int64_t ofRun);
    ValidationResult validateRound(std::int64_t batches);
    void rememberMetrics(const StepReport& report);
    bool mayStop() const;
    bool leavesOut(double loss);
    void record(StepReport& report);

    double meanOverRanks(double loss);
    void setScaleByHand();
    bool isDue(ScheduleInterval interval) const;

    Batch fetch(StepReport& report, std::int64_t batch, const std::stop_token& stop);
    at::Tensor lossOf(StepReport& report, const Batch& batch, WeightAccess& weights);
    bool optimizesManually() const { return m_turns.size() > 1; }
    void backward(StepReport& report, const at::Tensor& loss, bool last);
    void countAnswers(const Answers& answers);
    double divisor(std::int64_t batches) const;
    std::int64_t windowEnd() const; ///< One past the last micro batch of this window.
    bool mustUnscale() const;
    double squaresOf(const std::vector<at::Tensor>& gradients) const;
    bool measuresParameters() const;
    void measureUpdate();
    void addUpRanks(UpdateTally& tally);
    void addUpTurns(StepReport& report);
    /// Running statistics are each rank's own: nobody sends them round.
    bool keepsOwnBuffers() const
    {
        const bool ddp = m_plan.strategy == StrategyKind::Ddp;
        return ddp ? !m_plan.ddp.broadcastBuffers : m_plan.strategy != StrategyKind::Single;
    }
    MemoryTerms measuredMemory() const;
    MemoryTerms estimatedMemory() const; ///< From the sizes of the model's blocks alone.
    void closeFp8(StepReport& report);
    void fillReport(StepReport& report, const UpdateTally& tally) const;

    // What a checkpoint holds, and the way back (trainer_checkpoint.cpp).
    void keepParts(TrainerState& state) const;
    void keepWhole(TrainerState& state, bool wanted);
    void keepOfEachRank(TrainerState& state, const std::string& prefix, const at::Tensor& mine);
    TrainingPosition position() const;
    void restore(const StoredTraining& from);
    void restorePlace(const TrainingPosition& from);
    OptimizerState optimizerState() const;
    void restoreTensors(const StoredTraining& from, Turn& turn);
    void restoreOptimizer(const StoredTraining& from);
    void restoreSchedule(const TrainingPosition& from);
    void restoreScaler(const TrainingPosition& from);
    void restoreFp8(const StoredTraining& from);
    void restoreOfThisRank(const StoredTraining& from);
    void restoreCallbacks(const StoredTraining& from);
    void notCarried(std::string message);
    bool probes() const { return m_plan.probeFrom >= 0 && m_step >= m_plan.probeFrom; }

    std::shared_ptr<PreparedRun> m_prepared;
    const RunPlan& m_plan;
    const bool m_measures;
    const LayerSink m_onLayer;
    Communicator& m_communicator;
    std::unique_ptr<Precision> m_precision;
    std::unique_ptr<Model> m_model;
    std::unique_ptr<Strategy> m_strategy;
    Recompute m_recompute;
    WeightAccess& m_weights; ///< What the model's forward pass is given.
    std::vector<Turn> m_turns;
    std::size_t m_turn = 0;
    Schedule m_schedule;
    Faults m_faults;
    StageWatch m_watch;
    CallbackList m_callbacks;
    WindowSums m_sums;
    std::vector<TurnSums> m_turnSums; ///< Of each turn.
    UpdateTally m_tally; ///< Of the window's steps.
    std::vector<LayerReading> m_readings; ///< Of the window, where it is looked at.
    std::vector<StepNote> m_notCarried; ///< For the first report.
    std::vector<Batch> m_window; ///< Kept for an optimizer that evaluates them again.
    std::vector<std::pair<std::string, CallbackState>> m_storedCallbacks; ///< Until they are set up.
    StepReport* m_report = nullptr; ///< Of the step that runs.
    std::map<std::string, double, std::less<>> m_metrics; ///< Newest values of the whole run's series.
    std::optional<double> m_ownRate; ///< A callback's, in place of the schedule's.
    std::int64_t m_left = 0; ///< Batches of this window that a callback has left out.
    bool m_begun = false;
    bool m_saidCut = false; ///< That fp8 gradients saturate.
    bool m_endsWindow = false;
    bool m_unscaled = false; ///< In this turn.
    double m_scale = 1.0; ///< Of this turn.
    bool m_stopAsked = false;
    std::int64_t m_step = 0;
    std::int64_t m_epoch = 0;
    std::int64_t m_batch = 0; ///< Next micro batch of the epoch.
    std::int64_t m_globalBatch = 0; ///< … and of the run.
};

} // namespace mantissa
