#pragma once

#include "engine/recipe/run_plan.h"
#include "engine/rules/finding.h"
#include "engine/rules/target.h"

#include <string>
#include <vector>

namespace mantissa {

/// A fact about the user's module or hardware that a rule needed and nobody gave.
struct Assumption {
    std::string path; ///< The setting that would answer it: "mantissa.facts.automatic_optimization".
    std::string text; ///< "The module uses automatic optimization."
    int rules = 0; ///< How many rules asked.
};

enum class Verdict { Runs, RunsOtherwise, Stops, WontStart, NotChecked };

std::string_view verdictId(Verdict verdict); ///< "runs_otherwise"

/// What happens on one side, in one line.
struct VerdictReport {
    Verdict verdict = Verdict::Runs;
    Stage stage = Stage::Configure; ///< For Stops.
    std::string words; ///< "Target: will stop at step 1, at Unscale"; "This machine: runs, 2 thread ranks"
};

/// A finding that the set-up asks to leave out, with the reason that it gives.
struct SuppressedFinding {
    Finding finding;
    std::string reason;
};

struct CheckReport {
    Target target;
    VerdictReport onTarget;
    VerdictReport here; ///< Whether this engine can train it; its own findings are among `findings`.
    std::vector<Assumption> assumed;
    std::vector<Finding> findings; ///< Errors first, then by stage. Suppressed ones are left out.
    std::vector<SuppressedFinding> suppressed;
};

/// All rules on one set-up, with the fixes' `clears` and `raises` worked out. Pure; microseconds.
CheckReport check(const Setup& setup, const Target& target);

/// The same without fixes' consequences: for the matrix and what else looks at errors alone.
std::vector<Finding> findings(const Setup& setup, const Target& target);

/// Errors of the target that keep a run from starting in a mode. In faithful mode the engine raises those at
/// unscale and clip itself, at their stage; in extended mode it goes on where it does better.
std::vector<Finding> startRefusals(const CheckReport& report, RunMode mode);

struct FixAllReport {
    Setup setup;
    std::vector<std::string> applied; ///< Titles, in order.
    std::vector<Edit> edits; ///< Of all of them, in order.
    int rounds = 0;
    bool cycle = false;
};

/// Applies safe fixes one at a time, checking again, until none is left, a cycle is seen or 10 rounds are
/// over.
FixAllReport fixAllSafe(const Setup& setup, const Target& target);

} // namespace mantissa
