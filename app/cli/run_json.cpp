#include "app/cli/run_json.h"

#include "engine/core/counted.h"

namespace mantissa::cli {

std::string stateWords(const RunSummaryRow& row)
{
    if (row.lostPoints == 0)
        return row.stateText;
    return row.stateText + ", " + counted(static_cast<std::int64_t>(row.lostPoints), "record") + " lost";
}

Json runJson(const RunSummaryRow& row)
{
    const bool silent = row.silentSeconds >= 0.0;
    Json json;
    json["run"] = row.id;
    json["name"] = row.name;
    json["folder"] = row.folder.string();
    json["state"] = silent ? "silent" : std::string(runStateId(row.state));
    json["steps"] = row.steps;
    json["started"] = row.started;
    json["ended"] = row.ended.empty() ? Json() : Json(row.ended);
    json["host"] = row.host;
    json["kind"] = row.kind;
    json["lost"] = row.lostPoints;
    json["parent"] = row.parentRun.empty() ? Json() : Json{{"run", row.parentRun}, {"step", row.parentStep}};
    if (silent)
        json["silent_s"] = row.silentSeconds;
    if (row.error.empty())
        return json;
    for (const char* unknown : {"name", "steps", "started", "ended", "host", "kind", "lost", "parent"})
        json[unknown] = nullptr;
    json["state"] = row.stateText;
    json["error"] = row.error;
    json["hint"] = row.hint;
    return json;
}

Json seriesJson(const SeriesPoints& points)
{
    Json json;
    json["rank"] = points.spec.rank;
    json["split"] = points.spec.split;
    json["unit"] = points.spec.unit;
    json["deterministic"] = points.spec.deterministic;
    json["step"] = points.step;
    auto values = Json::array();
    for (const double value : points.value)
        values.push_back(jsonNumber(value));
    json["value"] = std::move(values);
    return json;
}

Json eventJson(const RunEvent& event)
{
    Json json;
    json["step"] = event.step;
    json["time"] = jsonNumber(event.time);
    json["kind"] = event.kind;
    json["stage"] = event.stage;
    json["rank"] = event.rank;
    json["layer"] = event.layer;
    json["message"] = event.message;
    json["detail"] = parsedOrNull(event.detail);
    return json;
}

Json checkpointJson(const CheckpointRecord& checkpoint)
{
    Json json;
    json["step"] = checkpoint.step;
    json["path"] = checkpoint.path;
    json["bytes"] = checkpoint.bytes;
    json["sha256"] = checkpoint.sha256;
    json["kept"] = checkpoint.kept;
    return json;
}

} // namespace mantissa::cli
