#pragma once

#include "engine/metrics/sample.h"
#include "engine/recipe/step_plan.h"

#include <QString>

#include <optional>
#include <vector>

namespace mantissa::ui {

/// One thing that can be done about a failed run.
struct FailureAdvice {
    QString title;
    QString tag; ///< "safe", "changes numerics"; empty: none.
    QString text;
    QString draft; ///< The set-up that does it, to be opened as a draft; empty: nothing to open.
    bool resumes = false; ///< The run can go on from a checkpoint.
};

/// Why, where and when a run failed, and what can be done.
struct RunFailure {
    RunEvent cause; ///< Kind empty: none was recorded.
    std::optional<Stage> stage; ///< Where the cause says it was.
    QString record; ///< The known error that this is, by its id; empty: none.
    StepPlan plan; ///< Of the set-up as it ran.
    std::vector<FailureAdvice> advice; ///< Best first.

    /// "Rank 1 ended in step 40, at Data."
    QString place() const;
};

/// What is known of a run that failed, from what it recorded. `message` and `hint` are those of its end.
RunFailure describeFailure(const std::vector<RunEvent>& events, const std::string& setupText,
                           const std::string& message, const std::string& hint);

} // namespace mantissa::ui
