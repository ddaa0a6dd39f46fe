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
    if (first.skipped)
        events.push_back(event(first, time, "skipped", Stage::Optimizer,
                               first.leftOut ? "The optimizer step is skipped: its batches are left out."
                                             : "The optimizer step is skipped: a gradient is Inf or NaN."));
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
