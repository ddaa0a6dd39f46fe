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
    using Clock = std::chrono::steady_clock;

    /// From here to the end of the scope.
    class Visit {
    public:
        Visit(StepReport& report, Stage stage) : m_report(report), m_stage(stage), m_began(Clock::now()) {}
        ~Visit()
        {
            const std::chrono::duration<double> spent = Clock::now() - m_began;
            m_report.stageSeconds[static_cast<std::size_t>(m_stage)] += spent.count();
        }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;

    private:
        StepReport& m_report;
        Stage m_stage;
        Clock::time_point m_began;
    };

    void begin(std::int64_t step) { m_step.store(step, std::memory_order_relaxed); }
    [[nodiscard]] Visit visit(StepReport& report, Stage stage)
    {
        m_stage.store(stage, std::memory_order_relaxed);
        report.stages.push_back(stage);
        return {report, stage};
    }
    TrainerPlace place() const { return {m_stage.load(std::memory_order_relaxed), m_step.load(std::memory_order_relaxed)}; }

private:
    std::atomic<Stage> m_stage{Stage::Setup};
    std::atomic<std::int64_t> m_step{0};
};

} // namespace mantissa
