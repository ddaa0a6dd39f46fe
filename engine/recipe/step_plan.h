#pragma once

#include "engine/recipe/setup.h"
#include "engine/recipe/stage.h"

#include <string>
#include <vector>

namespace mantissa {

/// One setting as a stage shows it.
struct PlanChip {
    std::string label; ///< "precision"
    std::string value; ///< "16-mixed"
    std::string path; ///< The setting behind it; empty where it is a consequence.
    bool asked = false; ///< Somebody wrote it; else it is a default.
    bool operator==(const PlanChip&) const = default;
};

/// One stage of the step. A stage that this set-up does not have is in the plan with `present == false`.
struct PlanStage {
    Stage stage = Stage::Data;
    bool present = true;
    std::string dtype; ///< Compute dtype: "fp32", "bf16", "fp16", "int64"; empty where there is none.
    std::vector<PlanChip> chips;
    std::string lane; ///< What differs from rank to rank here: "own batch", "own shard", "same scale".
    bool operator==(const PlanStage&) const = default;
};

/// A tensor that goes from one stage to the next.
struct PlanArrow {
    Stage from = Stage::Data;
    Stage to = Stage::Data;
    std::string dtype;
    std::string words; ///< What it carries where that is no tensor ("found-inf"); else empty.
    bool operator==(const PlanArrow&) const = default;
};

enum class CommWhen { Before, After };

/// A collective that takes place before or after a stage.
struct PlanComm {
    Stage stage = Stage::Forward;
    CommWhen when = CommWhen::Before;
    std::string operation; ///< "all-gather", "reduce-scatter", "all-reduce".
    std::string dtype;
    std::string words; ///< What travels: "units", "gradients", "‖g‖²", "found-inf".
    bool operator==(const PlanComm&) const = default;
};

/// The stages, tensors, dtypes and communications of one step of a set-up. What the diagram draws, what
/// findings are placed on, and what the engine must really go through: a test holds the three against each
/// other.
struct StepPlan {
    int worldSize = 1;
    int accumulate = 1; ///< Micro batches in the first window.
    std::vector<PlanStage> stages; ///< The eleven cards, in the order of the step.
    std::vector<PlanArrow> arrows; ///< Between stages that are present.
    std::vector<PlanComm> comms;
    bool operator==(const StepPlan&) const = default;
};

StepPlan makeStepPlan(const Setup& setup);

/// One line a stage, arrow and communication: for tests, logs and the diagram's accessible description.
std::string printPlan(const StepPlan& plan);

} // namespace mantissa
