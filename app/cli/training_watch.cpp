#include "app/cli/training_watch.h"

#include "app/cli/json_text.h"
#include "app/cli/progress_line.h"
#include "engine/core/error_id.h"

#include <array>
#include <optional>
#include <string>
#include <thread>

namespace mantissa::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kCommitTime = 1s;

/// What happens in every healthy run, which the progress counts already; and the failure, which is reported
/// at the end.
bool isToldOtherwise(const std::string& kind)
{
    constexpr std::array<std::string_view, 6> kKinds = {"stage_trace", "skipped",   "growth",
                                                        "backoff",     "nonfinite", "failure"};
    for (const auto one : kKinds)
        if (kind == one)
            return true;
    return false;
}

/// Of a failure that belongs to no rank: the run did not get as far as to have them.
std::optional<ErrorCode> codeBeforeStart(const RunEvent& event)
{
    if (event.kind != "failure" || event.rank >= 0)
        return std::nullopt;
    const Json detail = parsedOrNull(event.detail);
    return detail.is_object() ? errorWithId(detail.value("code", std::string())) : std::nullopt;
}

void tellEvents(TrainingRun& run, ProgressLine& progress, WatchedEnd& end)
{
    for (const auto& event : run.takeEvents()) {
        if (const auto code = codeBeforeStart(event))
            end.beforeStart = code;
        if (!isToldOtherwise(event.kind) && !event.message.empty())
            progress.say("step " + std::to_string(event.step) + ": " + event.message);
    }
}

/// A rank inside the tensor library cannot be ended from outside, and leaving `main` beside it would abort.
/// The history is committed by its own thread, at least once a second: that much time it is given.
WatchedEnd leaveAtOnce(const TrainingRun& run, ProgressLine& progress, const std::string& why)
{
    progress.say(why);
    std::this_thread::sleep_for(kCommitTime);
    WatchedEnd end{run.summary(), true, {}, true};
    end.summary.state = RunState::Interrupted;
    return end;
}

} // namespace

WatchedEnd watchTraining(TrainingRun& run, InterruptWatch& interrupts, std::chrono::milliseconds grace)
{
    ProgressLine progress;
    WatchedEnd end;
    std::optional<std::chrono::steady_clock::time_point> giveUpAt;
    while (!run.wait(100ms)) {
        progress.show(run);
        tellEvents(run, progress, end);
        const bool asked = interrupts.take().has_value();
        if (asked && giveUpAt)
            return leaveAtOnce(run, progress, "Left at once, without a checkpoint.");
        if (giveUpAt && std::chrono::steady_clock::now() > *giveUpAt)
            return leaveAtOnce(run, progress,
                               "The step is not through after "
                                   + durationText(std::chrono::duration<double>(grace).count())
                                   + ". Left without a checkpoint; what was recorded is kept.");
        if (asked) {
            progress.say("Stopping after this step, with a checkpoint. Once more ends at once.");
            giveUpAt = std::chrono::steady_clock::now() + grace;
            run.stop();
        }
    }
    progress.end(run);
    tellEvents(run, progress, end);
    end.summary = run.summary();
    end.interrupted = giveUpAt.has_value() && end.summary.state == RunState::Stopped;
    return end;
}

} // namespace mantissa::cli
