#include "app/cli/command.h"
#include "app/cli/json_text.h"
#include "app/cli/printable.h"
#include "app/cli/training_command.h"
#include "engine/core/counted.h"
#include "engine/history/replay_check.h"
#include "engine/history/resume_draft.h"
#include "engine/history/run_folder.h"
#include "engine/history/run_reader.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace mantissa::cli {
namespace {

struct Options {
    std::string run;
    std::int64_t to = 0;
    std::int64_t window = 50;
    TrainingOptions training;
};

/// Where an Inf or NaN began, over all ranks: the earliest step, then batch, then place on the way.
std::optional<RunEvent> firstOrigin(const std::vector<RunEvent>& events)
{
    const auto key = [](const RunEvent& event) {
        const Json detail = parsedOrNull(event.detail);
        return std::tuple(event.step, detail.value("batch", std::int64_t{0}),
                          detail.value("order", std::int64_t{0}), event.rank);
    };
    std::optional<RunEvent> first;
    for (const auto& event : events)
        if (event.kind == "origin" && (!first || key(event) < key(*first)))
            first = event;
    return first;
}

Json originJson(const std::optional<RunEvent>& origin)
{
    if (!origin)
        return nullptr;
    const Json detail = parsedOrNull(origin->detail);
    return {{"step", origin->step},      {"rank", origin->rank},   {"batch", detail["batch"]},
            {"layer", origin->layer},    {"stage", origin->stage}, {"quantity", detail["quantity"]},
            {"message", origin->message}};
}

void printReport(const ReplayReport& report, const std::optional<RunEvent>& origin)
{
    if (report.differsFrom)
        std::printf("Not the same run: %s differs from step %lld on.\n", report.series.c_str(),
                    static_cast<long long>(*report.differsFrom));
    else
        std::printf("The same run: equal bits in %s%s.\n", counted(report.steps, "step").c_str(),
                    report.hashed ? ", parameters included"
                                  : "; it had recorded no hashes of its parameters");
    if (origin)
        std::printf("Step %lld, rank %d: %s\n", static_cast<long long>(origin->step), origin->rank,
                    printable(origin->message).c_str());
    else
        std::puts("No layer made an Inf or NaN in these steps.");
}

int notCompared(const RunSummary& summary, const Error& error, bool json)
{
    if (json)
        printJson({{"run", summary.id},
                   {"folder", summary.folder.string()},
                   {"state", runStateId(summary.state)},
                   {"steps", summary.steps},
                   {"same", nullptr},
                   {"message", error.message}});
    return report(error);
}

int finish(const std::filesystem::path& parent, const RunSummary& summary, int code, bool json)
{
    const auto report = checkReplay(parent, summary.folder);
    if (!report)
        return notCompared(summary, report.error(), json);
    const auto reader = RunReader::open(summary.folder);
    if (!reader)
        return notCompared(summary, reader.error(), json);
    const auto events = (*reader)->events();
    if (!events)
        return notCompared(summary, events.error(), json);
    const auto origin = firstOrigin(*events);
    if (json)
        printJson({{"run", summary.id},
                   {"folder", summary.folder.string()},
                   {"state", runStateId(summary.state)},
                   {"steps", report->steps},
                   {"same", !report->differsFrom},
                   {"differs_from", report->differsFrom ? Json(*report->differsFrom) : Json()},
                   {"hashed", report->hashed},
                   {"origin", originJson(origin)}});
    else
        printReport(*report, origin);
    return code != Ok ? code : report->differsFrom ? Findings : Ok;
}

int rewindIt(Options options)
{
    const auto folder = findRun(options.training.history, options.run);
    if (!folder)
        return notStarted(options.training.json, folder.error());
    const std::int64_t from = std::max<std::int64_t>(0, options.to - options.window + 1);
    auto draft = draftResume(*folder, {from - 1, options.to + 1});
    if (!draft) // Not so far back, then, but as far as there is something.
        draft = draftResume(*folder, {options.to - 1, options.to + 1});
    if (!draft)
        return notStarted(options.training.json, draft.error());
    if (options.training.name.empty())
        options.training.name = draft->name;
    TrainingVariant variant;
    variant.resume = draft->from;
    variant.adjust = [from](RunRequest& request) {
        request.kind = "rewind";
        request.plan.probeFrom = from;
        request.plan.checkpoints = {};
        request.plan.checkpoints.atEnd = false;
    };
    variant.finish = [&](const RunSummary& summary, int code) {
        return finish(*folder, summary, code, options.training.json);
    };
    SetupArgument argument{(*folder / kSetupFile).string(), draft->setupText, readSetup(draft->setupText)};
    return trainSetup(options.training, std::move(argument), variant);
}

} // namespace

void addRewind(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand(
        "rewind", "Replay the steps before an event, bit for bit, and look at every layer on the way");
    command->add_option("RUN", options->run, "Id, name, the beginning of either, or a folder")->required();
    command->add_option("--to", options->to, "The last step to replay")
        ->type_name("STEP")
        ->required()
        ->check(CLI::NonNegativeNumber);
    command->add_option("--window", options->window, "How many steps up to it are looked at")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    addTrainingOptions(*command, options->training);
    command->callback([&run, options] { run = [options] { return rewindIt(*options); }; });
}

} // namespace mantissa::cli
