#include "engine/train/session_events.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <string>

namespace mantissa {
namespace {

std::string numberText(double value)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end.ptr};
}

RunEvent event(const StepReport& report, double time, const char* kind, Stage stage, std::string message)
{
    RunEvent made;
    made.step = report.step;
    made.time = time;
    made.kind = kind;
    made.stage = stageId(stage);
    made.message = std::move(message);
    return made;
}

RunEvent skip(const StepReport& report, double time, const std::string& step, bool leftOut)
{
    return event(
        report, time, "skipped", Stage::Optimizer,
        step + " is skipped: " + (leftOut ? "its batches are left out." : "a gradient is Inf or NaN."));
}

void addNonfinite(std::vector<RunEvent>& events, const std::vector<StepReport>& reports, double time)
{
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        const auto count = reports[rank].nonfiniteBefore;
        if (count == 0)
            continue;
        const std::string elements = count == 1 ? " gradient element" : " gradient elements";
        events.push_back(event(reports[rank], time, "nonfinite", Stage::Backward,
                               std::to_string(count) + elements + " of rank " + std::to_string(rank)
                                   + (count == 1 ? " is" : " are")
                                   + " Inf or NaN before the reduction; backward met the first in "
                                   + reports[rank].nonfiniteFirst + "."));
        events.back().rank = static_cast<int>(rank);
        events.back().layer = reports[rank].nonfiniteFirst;
    }
}

void addScale(std::vector<RunEvent>& events, const StepReport& report, double time)
{
    if (!report.lossScale || !report.lossScaleAfter || *report.lossScale == *report.lossScaleAfter)
        return;
    const bool grows = *report.lossScaleAfter > *report.lossScale;
    events.push_back(event(report, time, grows ? "growth" : "backoff", Stage::UpdateScale,
                           std::string("The loss scale ") + (grows ? "grows" : "falls") + " from "
                               + numberText(*report.lossScale) + " to " + numberText(*report.lossScaleAfter)
                               + "."));
}

void addNotes(std::vector<RunEvent>& events, const std::vector<StepReport>& reports, double time)
{
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        for (const auto& note : reports[rank].notes) {
            events.push_back(event(reports[rank], time, note.kind.c_str(), note.stage, note.message));
            events.back().rank = static_cast<int>(rank);
            events.back().layer = note.layer;
            events.back().detail = note.detail;
        }
    }
}

} // namespace

std::vector<RunEvent> eventsOf(const std::vector<StepReport>& reports, double time)
{
    std::vector<RunEvent> events;
    addNotes(events, reports, time);
    addNonfinite(events, reports, time);
    const auto& first = reports.front();
    if (first.skipped && first.turns.empty())
        events.push_back(skip(first, time, "The optimizer step", first.leftOut));
    for (const auto& turn : first.turns)
        if (turn.skipped > 0)
            events.push_back(skip(first, time, "A step of the " + turn.name, turn.leftOut));
    addScale(events, first, time);
    return events;
}

RunEvent stageTrace(const StepReport& first, double time)
{
    std::vector<std::string> ids;
    for (const auto stage : first.stages) {
        const std::string id(stageId(stage));
        if (std::find(ids.begin(), ids.end(), id) == ids.end())
            ids.push_back(id);
    }
    RunEvent trace =
        event(first, time, "stage_trace", Stage::Record, "The stages that the first step went through.");
    trace.detail = nlohmann::json{{"stages", ids}}.dump();
    return trace;
}

} // namespace mantissa
