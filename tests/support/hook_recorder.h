#pragma once

#include "engine/callbacks/callback_list.h"
#include "engine/train/trainer.h"
#include "engine/train/trainer_state.h"
#include "tests/support/rank_threads.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mantissa {

/// Writes down which hooks were called.
class HookRecorder final : public Callback {
public:
    explicit HookRecorder(std::vector<std::string>& calls) : m_calls(calls) {}

    void setup(TrainingView&) override { m_calls.emplace_back("setup"); }
    void onFitStart(TrainingView&) override { m_calls.emplace_back("fit_start"); }
    void onSanityCheckStart(TrainingView&) override { m_calls.emplace_back("sanity_start"); }
    void onSanityCheckEnd(TrainingView&) override { m_calls.emplace_back("sanity_end"); }
    void onTrainStart(TrainingView&) override { m_calls.emplace_back("train_start"); }
    void onTrainEpochStart(TrainingView&) override { m_calls.emplace_back("epoch_start"); }
    void onTrainBatchStart(TrainingView&) override { m_calls.emplace_back("batch_start"); }
    bool onBeforeBackward(TrainingView&, double) override
    {
        m_calls.emplace_back("before_backward");
        return true;
    }
    void onAfterBackward(TrainingView&) override { m_calls.emplace_back("after_backward"); }
    void onBeforeOptimizerStep(TrainingView&) override { m_calls.emplace_back("before_step"); }
    void onTrainBatchEnd(TrainingView&) override { m_calls.emplace_back("batch_end"); }
    void onTrainEpochEnd(TrainingView&) override { m_calls.emplace_back("epoch_end"); }
    void onValidationStart(TrainingView&) override { m_calls.emplace_back("val_start"); }
    void onValidationEpochStart(TrainingView&) override { m_calls.emplace_back("val_epoch_start"); }
    void onValidationEpochEnd(TrainingView&) override { m_calls.emplace_back("val_epoch_end"); }
    void onValidationEnd(TrainingView&) override { m_calls.emplace_back("val_end"); }
    void onTrainEnd(TrainingView&) override { m_calls.emplace_back("train_end"); }

private:
    std::vector<std::string>& m_calls;
};

/// A training on bare ranks as tests of callbacks look at it.
struct LoopRun {
    std::vector<StepReport> reports; ///< Of rank 0.
    std::vector<std::string> hooks; ///< Of rank 0.
    TrainerState state;

    /// Every value of a logged series, in order.
    std::vector<double> logged(const std::string& series) const
    {
        std::vector<double> values;
        for (const auto& report : reports) {
            for (const auto& each : report.logged) {
                if (each.series == series)
                    values.push_back(each.value);
            }
        }
        return values;
    }
    std::vector<std::string> notes(const std::string& kind) const
    {
        std::vector<std::string> found;
        for (const auto& report : reports) {
            for (const auto& note : report.notes) {
                if (note.kind == kind)
                    found.push_back(note.message);
            }
        }
        return found;
    }
    at::Tensor tensor(const std::string& name) const
    {
        for (const auto& [key, value] : state.tensors) {
            if (key == name)
                return value;
        }
        return {};
    }
};

inline LoopRun runLoop(const RunPlan& plan, const std::function<void(Trainer&, int rank)>& before = {},
                       const std::filesystem::path& checkpoint = {})
{
    auto prepared = prepareRun(plan, checkpoint);
    if (!prepared)
        throw std::runtime_error(prepared.error().message);
    LoopRun run;
    runRanks(plan.ranks, [&](Communicator& comm) {
        std::vector<std::string> hooks;
        TrainerSeams seams;
        seams.addCallbacks = [&](CallbackList& list) {
            list.add("HookRecorder", std::make_unique<HookRecorder>(hooks));
        };
        Trainer trainer(*prepared, comm, seams);
        std::vector<StepReport> reports;
        while (!trainer.finished()) {
            if (before)
                before(trainer, comm.rank());
            reports.push_back(trainer.step());
        }
        auto state = trainer.state();
        if (comm.rank() == 0)
            run = {std::move(reports), std::move(hooks), std::move(state)};
    });
    return run;
}

} // namespace mantissa
