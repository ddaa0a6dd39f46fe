#include "app/cli/command.h"
#include "app/cli/history_option.h"
#include "app/cli/json_text.h"
#include "app/cli/printable.h"
#include "app/cli/run_json.h"
#include "app/cli/text_table.h"
#include "engine/core/counted.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace mantissa::cli {
namespace {

struct Options {
    std::string run;
    std::string history;
    std::vector<std::string> series;
    bool json = false;
};

/// A run's folder, read whole.
struct StoredRun {
    RunSummaryRow summary;
    StoredSetup setup;
    std::vector<SeriesPoints> series;
    std::vector<RunEvent> events;
    std::vector<CheckpointRecord> checkpoints;
};

Error unknownSeries(const std::string& name, const std::vector<SeriesSpec>& all)
{
    std::string names;
    std::set<std::string_view> listed;
    for (const auto& spec : all)
        if (listed.insert(spec.name).second)
            names += (names.empty() ? "" : ", ") + spec.name;
    return {ErrorCode::NotFound, "The run has no series " + name + ".", "It has " + names + "."};
}

Result<std::vector<SeriesPoints>> readSeries(const RunReader& reader, const std::vector<std::string>& wanted)
{
    const auto specs = reader.series();
    if (!specs)
        return specs.error();
    for (const auto& name : wanted)
        if (std::none_of(specs->begin(), specs->end(), [&](const auto& spec) { return spec.name == name; }))
            return unknownSeries(name, *specs);
    std::vector<SeriesPoints> series;
    for (const auto& spec : *specs) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), spec.name) == wanted.end())
            continue;
        auto points = reader.points(spec);
        if (!points)
            return points.error();
        series.push_back(std::move(*points));
    }
    return series;
}

Result<StoredRun> read(const RunReader& reader, const std::vector<std::string>& wanted)
{
    const auto summary = reader.summary();
    if (!summary)
        return summary.error();
    const auto setup = reader.setup();
    if (!setup)
        return setup.error();
    auto series = readSeries(reader, wanted);
    if (!series)
        return series.error();
    const auto events = reader.events();
    if (!events)
        return events.error();
    const auto checkpoints = reader.checkpoints();
    if (!checkpoints)
        return checkpoints.error();
    return StoredRun{*summary, *setup, std::move(*series), *events, *checkpoints};
}

void printAsJson(const StoredRun& stored)
{
    Json json = runJson(stored.summary);
    auto& series = json["series"] = Json::object();
    for (const auto& points : stored.series)
        series[points.spec.name].push_back(seriesJson(points));
    auto& events = json["events"] = Json::array();
    for (const auto& event : stored.events)
        events.push_back(eventJson(event));
    auto& checkpoints = json["checkpoints"] = Json::array();
    for (const auto& checkpoint : stored.checkpoints)
        checkpoints.push_back(checkpointJson(checkpoint));
    json["setup"] = stored.setup.yaml;
    json["effective"] = parsedOrNull(stored.setup.effective);
    json["findings"] = parsedOrNull(stored.setup.findings);
    json["assumed"] = parsedOrNull(stored.setup.assumed);
    json["environment"] = parsedOrNull(stored.setup.environment);
    printJson(json);
}

void printSeriesTable(const std::vector<SeriesPoints>& all)
{
    TextTable table({"SERIES", "RANK", "POINTS", "LAST", "LEAST", "MOST", "NOT FINITE"});
    for (const auto& points : all) {
        double least = NAN;
        double most = NAN;
        std::size_t odd = 0;
        for (const double value : points.value) {
            if (!std::isfinite(value)) {
                ++odd;
                continue;
            }
            least = std::fmin(least, value);
            most = std::fmax(most, value);
        }
        const bool any = odd < points.value.size();
        table.add({points.spec.name, points.spec.rank < 0 ? "all" : std::to_string(points.spec.rank),
                   std::to_string(points.value.size()),
                   points.value.empty() ? "" : shortNumber(points.value.back()),
                   any ? shortNumber(least) : "", any ? shortNumber(most) : "", std::to_string(odd)});
    }
    table.print();
}

void printPoints(const std::vector<SeriesPoints>& all)
{
    TextTable table({"SERIES", "RANK", "STEP", "VALUE"});
    for (const auto& points : all)
        for (std::size_t i = 0; i < points.value.size(); ++i) {
            const auto value = jsonNumber(points.value[i]);
            table.add({points.spec.name, points.spec.rank < 0 ? "all" : std::to_string(points.spec.rank),
                       std::to_string(points.step[i]),
                       value.is_string() ? value.get<std::string>() : value.dump()});
        }
    table.print();
}

void printEvents(const std::vector<RunEvent>& events)
{
    if (!events.empty())
        std::puts("");
    for (const auto& event : events)
        if (event.kind != "stage_trace")
            std::printf("step %lld  %s%s  %s\n", static_cast<long long>(event.step),
                        printable(event.kind).c_str(),
                        event.rank < 0 ? "" : (" on rank " + std::to_string(event.rank)).c_str(),
                        printable(event.message).c_str());
}

void printCheckpoints(const std::vector<CheckpointRecord>& checkpoints)
{
    if (checkpoints.empty())
        return;
    std::puts("");
    TextTable table({"CHECKPOINT", "AFTER STEP", "BYTES", ""});
    for (const auto& checkpoint : checkpoints)
        table.add({checkpoint.path, std::to_string(checkpoint.step), std::to_string(checkpoint.bytes),
                   checkpoint.kept ? "" : "removed"});
    table.print();
}

void printAsText(const StoredRun& stored, bool everyPoint)
{
    const auto& run = stored.summary;
    std::printf("%s  %s\n%s, %s, started %s on %s\n%s\n", run.id.c_str(), printable(run.name).c_str(),
                printable(stateWords(run)).c_str(), counted(run.steps, "step").c_str(),
                printable(run.started).c_str(), printable(run.host).c_str(),
                printable(run.folder.string()).c_str());
    if (!run.parentRun.empty())
        std::printf("goes on from step %lld of run %s\n", static_cast<long long>(run.parentStep),
                    printable(run.parentRun).c_str());
    std::puts("");
    if (everyPoint) {
        printPoints(stored.series);
        return;
    }
    printSeriesTable(stored.series);
    printEvents(stored.events);
    printCheckpoints(stored.checkpoints);
}

/// "a,b" and another "c" are three names.
std::optional<std::vector<std::string>> splitNames(const std::vector<std::string>& given)
{
    std::vector<std::string> names;
    for (const auto& list : given) {
        for (std::size_t begin = 0; begin <= list.size();) {
            const auto end = std::min(list.find(',', begin), list.size());
            if (end == begin)
                return std::nullopt;
            names.push_back(list.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return names;
}

int showIt(const Options& options)
{
    const auto series = splitNames(options.series);
    if (!series)
        return reportUsage({ErrorCode::InvalidSetup, "--series has an empty name in it.",
                            "Write names with commas between, such as loss,grad_norm."});
    const auto folder = findRun(options.history, options.run);
    if (!folder)
        return report(folder.error());
    const auto reader = RunReader::open(*folder);
    if (!reader)
        return report(reader.error());
    const auto stored = read(**reader, *series);
    if (!stored)
        return report(stored.error());
    if (options.json)
        printAsJson(*stored);
    else
        printAsText(*stored, !series->empty());
    return Ok;
}

} // namespace

void addShow(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("show", "Show one stored run: its series, events and checkpoints");
    command->add_option("RUN", options->run, "Id, name, the beginning of either, or a folder")->required();
    command->add_option("--series", options->series, "Only these series, with every point")
        ->allow_extra_args(false)
        ->type_name("NAME,…");
    addHistoryOption(*command, options->history);
    command->add_flag("--json", options->json, "One JSON object on standard output");
    command->callback([&run, options] { run = [options] { return showIt(*options); }; });
}

} // namespace mantissa::cli
