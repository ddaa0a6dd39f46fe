#include "engine/recipe/step_plan.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/plan_chips.h"
#include "engine/recipe/step_dtypes.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr auto kFirstCard = Stage::Data;
constexpr auto kLastCard = Stage::UpdateScale;

class StepPlanMaker {
public:
    explicit StepPlanMaker(const Setup& setup)
        : m_setup(setup),
          m_dtypes(stepDtypes(setup)),
          m_ranks(ranksHere(setup)),
          m_sharded(partsAsked(setup) > 1),
          m_shards(shardsAsked(setup)),
          m_scales(usesScaler(setup)),
          m_unscales(unscalesExplicitly(setup)),
          m_clip(clipAsked(setup))
    {
    }

    StepPlan make()
    {
        m_plan.worldSize = m_ranks;
        m_plan.accumulate = static_cast<int>(accumulationAsked(m_setup).at(0));
        for (auto stage = kFirstCard; stage <= kLastCard; stage = next(stage))
            m_plan.stages.push_back(
                {stage, isPresent(stage), dtypeOf(stage), stageChips(m_setup, stage), laneOf(stage)});
        addArrows();
        if (m_ranks > 1)
            addComms();
        return std::move(m_plan);
    }

private:
    static Stage next(Stage stage) { return static_cast<Stage>(static_cast<int>(stage) + 1); }

    bool isPresent(Stage stage) const
    {
        switch (stage) {
        case Stage::Scale:
        case Stage::UpdateScale:
            return m_scales;
        case Stage::Reduce:
            return m_ranks > 1;
        case Stage::Unscale:
            return m_unscales;
        case Stage::Clip:
            return m_clip.kind != ClipKind::None;
        default:
            return true;
        }
    }

    std::string dtypeOf(Stage stage) const
    {
        switch (stage) {
        case Stage::Data:
            return m_dtypes.raw;
        case Stage::ConvertInput:
            return m_dtypes.input;
        case Stage::Forward:
            return m_dtypes.compute;
        case Stage::Backward:
            return m_dtypes.backward;
        case Stage::Loss:
        case Stage::Scale:
            return m_dtypes.loss;
        case Stage::Reduce:
            return m_dtypes.reduce;
        case Stage::UpdateScale:
            return "fp32";
        default:
            return m_dtypes.stored;
        }
    }

    std::string laneOf(Stage stage) const
    {
        if (m_ranks < 2)
            return {};
        switch (stage) {
        case Stage::Data:
            return "own batch";
        case Stage::ConvertInput:
            return "same";
        case Stage::Forward:
            return m_sharded && shardsWeights(m_setup) ? "same, units gathered from all shards"
                                                       : "same, own copy of the weights";
        case Stage::Loss:
            return "own loss";
        case Stage::Scale:
        case Stage::UpdateScale:
            return "same scale";
        case Stage::Backward:
            return "own gradients";
        case Stage::Clip:
            if (m_sharded && m_clip.kind == ClipKind::Norm)
                return "one common norm";
            [[fallthrough]];
        case Stage::Reduce:
        case Stage::Unscale:
            return m_sharded ? "own shard" : "same gradients";
        default:
            return m_sharded ? "own shard" : "same weights";
        }
    }

    /// What leaves a stage on the way to the next one.
    std::string dtypeBehind(Stage stage) const
    {
        switch (stage) {
        case Stage::Data:
            return m_dtypes.raw;
        case Stage::ConvertInput:
            return m_dtypes.input;
        case Stage::Forward:
        case Stage::Loss:
        case Stage::Scale:
            return m_dtypes.loss;
        case Stage::Backward:
            return m_ranks > 1 ? m_dtypes.reduce : m_dtypes.stored;
        default:
            return m_dtypes.stored;
        }
    }

    void addArrows()
    {
        auto from = Stage::Data;
        for (auto stage = next(kFirstCard); stage <= Stage::Optimizer; stage = next(stage))
            if (isPresent(stage)) {
                m_plan.arrows.push_back({from, stage, dtypeBehind(from), {}});
                from = stage;
            }
        if (m_scales) {
            m_plan.arrows.push_back({Stage::Optimizer, Stage::UpdateScale, {}, "found-inf"});
            from = Stage::UpdateScale;
        }
        m_plan.arrows.push_back({from, Stage::Data, {}, "next step"});
    }

    void add(Stage stage, CommWhen when, std::string operation, std::string dtype, std::string words)
    {
        m_plan.comms.push_back({stage, when, std::move(operation), std::move(dtype), std::move(words)});
    }

    void addComms()
    {
        const bool zero1 = strategyAsked(m_setup) == "zero1";
        const bool again = m_shards.sharding == Sharding::Full || m_shards.sharding == Sharding::Hybrid;
        if (m_sharded && !zero1) {
            add(Stage::Forward, CommWhen::Before, "all-gather", m_dtypes.gathered, "units");
            if (again)
                add(Stage::Backward, CommWhen::Before, "all-gather", m_dtypes.gathered, "units");
        }
        if (m_sharded)
            add(Stage::Backward, CommWhen::After, "reduce-scatter", m_dtypes.reduce, "gradients");
        if (!m_sharded || (!zero1 && m_shards.replicas > 1))
            add(Stage::Backward, CommWhen::After, "all-reduce", m_dtypes.reduce, "gradients");
        // Where the optimizer divides by the scale itself, ranks still have to agree before it steps.
        if (m_scales && m_unscales)
            add(Stage::Unscale, CommWhen::After, "all-reduce", "fp32", "found-inf");
        else if (m_scales)
            add(Stage::Optimizer, CommWhen::Before, "all-reduce", "fp32", "found-inf");
        if (m_sharded && m_clip.kind == ClipKind::Norm)
            add(Stage::Clip, CommWhen::After, "all-reduce", "fp64", normWords());
        if (zero1)
            add(Stage::Optimizer, CommWhen::After, "all-gather", m_dtypes.stored, "weights");
    }

    std::string normWords() const
    {
        if (std::isinf(m_clip.normType))
            return "max |g|";
        return m_clip.normType == 2.0 ? "‖g‖²" : "‖g‖ᵖ";
    }

    const Setup& m_setup;
    StepDtypes m_dtypes;
    int m_ranks;
    bool m_sharded; ///< The optimizer of a rank works on its part.
    ShardPlan m_shards;
    bool m_scales;
    bool m_unscales;
    ClipAsked m_clip;
    StepPlan m_plan;
};

std::string chipText(const PlanChip& chip)
{
    return chip.label + "=" + chip.value + (chip.asked ? "!" : "");
}

std::string stageText(const PlanStage& stage)
{
    std::string text = std::string(stageId(stage.stage));
    if (!stage.present)
        return "(" + text + ")";
    text += " " + stage.dtype;
    for (const auto& chip : stage.chips)
        text += " [" + chipText(chip) + "]";
    return text + (stage.lane.empty() ? "" : " | " + stage.lane);
}

} // namespace

StepPlan makeStepPlan(const Setup& setup)
{
    return StepPlanMaker(setup).make();
}

std::string printPlan(const StepPlan& plan)
{
    std::string text = std::to_string(plan.worldSize) + (plan.worldSize == 1 ? " rank" : " ranks") + ", "
        + std::to_string(plan.accumulate) + (plan.accumulate == 1 ? " micro batch\n" : " micro batches\n");
    for (const auto& stage : plan.stages)
        text += "stage " + stageText(stage) + "\n";
    for (const auto& arrow : plan.arrows)
        text += "arrow " + std::string(stageId(arrow.from)) + " -> " + std::string(stageId(arrow.to)) + " "
            + (arrow.words.empty() ? arrow.dtype : arrow.words) + "\n";
    for (const auto& comm : plan.comms)
        text += "comm " + std::string(comm.when == CommWhen::Before ? "before " : "after ")
            + std::string(stageId(comm.stage)) + " " + comm.operation + " " + comm.dtype + " " + comm.words
            + "\n";
    return text;
}

} // namespace mantissa
