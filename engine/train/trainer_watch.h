#pragma once

#include "engine/recipe/stage.h"
#include "engine/train/step_report.h"
#include "engine/train/trainer.h"

#include <atomic>
#include <chrono>

namespace mantissa {

/// Knows at which stage of which step a rank is, and writes the way it went into the report.
class StageWatch {
public:
    void begin(std::int64_t step)
    {
        m_step.store(step, std::memory_order_relaxed);
        m_began = Clock::now();
    }
    void enter(StepReport& report, Stage stage)
    {
        m_stage.store(stage, std::memory_order_relaxed);
        report.stages.push_back(stage);
        report.stageTimes.push_back(seconds());
    }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - m_began).count(); }
    TrainerPlace place() const
    {
        return {m_stage.load(std::memory_order_relaxed), m_step.load(std::memory_order_relaxed)};
    }

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point m_began = Clock::now(); ///< Of the step.
    std::atomic<Stage> m_stage{Stage::Setup};
    std::atomic<std::int64_t> m_step{0};
};

} // namespace mantissa
