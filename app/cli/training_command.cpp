#include "app/cli/training_command.h"

#include "app/cli/command.h"
#include "app/cli/finding_lines.h"
#include "app/cli/history_option.h"
#include "app/cli/json_text.h"
#include "app/cli/printable.h"
#include "app/cli/text_table.h"
#include "app/cli/training_watch.h"
#include "engine/core/counted.h"
#include "engine/core/guarded.h"
#include "engine/recipe/fields.h"
#include "engine/rules/findings_json.h"
#include "engine/rules/text_findings.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace mantissa::cli {
namespace {

int refuse(bool json, const SetupArgument& argument, const CheckReport& checked,
           const std::vector<Finding>& refusing)
{
    for (const auto& finding : refusing)
        printFinding(stderr, finding, argument);
    std::fprintf(stderr,
                 "Not started: %s\n  mantissa-cli fix %s applies safe fixes; --mode faithful stops where the "
                 "target stops; --mode extended trains where this engine does better.\n",
                 checked.onTarget.words.c_str(), argument.path.c_str());
    if (json)
        printJson({{"run", nullptr},
                   {"folder", nullptr},
                   {"state", "refused"},
                   {"steps", 0},
                   {"skipped", 0},
                   {"final", Json::object()},
                   {"findings", jsonOf(refusing)}});
    return Findings;
}

void printSummary(const WatchedEnd& end, bool json)
{
    const auto& summary = end.summary;
    if (json) {
        Json final = Json::object();
        for (const auto& [name, value] : summary.final)
            final[name] = jsonNumber(value);
        printJson({{"run", summary.id},
                   {"folder", summary.folder.string()},
                   {"state", runStateId(summary.state)},
                   {"steps", summary.steps},
                   {"skipped", summary.skipped},
                   {"final", final},
                   {"lost", summary.lostPoints},
                   {"message", summary.message},
                   {"hint", summary.hint}});
        return;
    }
    TextTable table({"SERIES", "LAST"});
    for (const auto& [name, value] : summary.final)
        table.add({name, shortNumber(value)});
    table.print();
    const auto lost = static_cast<std::int64_t>(summary.lostPoints);
    std::printf("%s %s after %s, %lld skipped%s: %s\n", summary.id.c_str(),
                std::string(runStateId(summary.state)).c_str(), counted(summary.steps, "step").c_str(),
                static_cast<long long>(summary.skipped),
                lost == 0 ? "" : (", " + counted(lost, "record") + " lost").c_str(),
                printable(summary.folder.string()).c_str());
    std::fflush(stdout);
}

int codeOf(const WatchedEnd& end)
{
    if (end.interrupted)
        return InterruptedByUser;
    // A run that ended well still says what it could not keep: on a full disk, the history or the checkpoint.
    if (end.beforeStart) {
        const auto code = exitCodeFor(*end.beforeStart);
        return code == DamagedHistory ? Unreadable : code; // Damaged data, and no history.
    }
    const bool ended = end.summary.state == RunState::Finished || end.summary.state == RunState::Stopped;
    return ended && end.summary.message.empty() ? Ok : Findings;
}

int runIt(const TrainingOptions& options, const RunRequest& request, const TrainingVariant& variant)
{
    InterruptWatch interrupts; // Before the engine starts threads, which take over what is blocked.
    const auto service = loadTrainingService();
    if (!service)
        return notStarted(options.json, service.error());
    const auto run = guarded("The command broke off", [&] { return (*service)->start(request); });
    if (!run)
        return notStarted(options.json, run.error());
    std::fprintf(stderr, "Run %s in %s\n", (*run)->id().c_str(),
                 printable((*run)->folder().string()).c_str());
    const auto grace = std::chrono::duration<double>(options.grace);
    const auto end =
        watchTraining(**run, interrupts, std::chrono::duration_cast<std::chrono::milliseconds>(grace));
    if (!end.summary.message.empty())
        (void)report({ErrorCode::Internal, end.summary.message, end.summary.hint});
    int code = codeOf(end);
    if (variant.finish && !end.leftAtOnce)
        code = variant.finish(end.summary, code);
    else
        printSummary(end, options.json);
    if (end.leftAtOnce || (*run)->leftRanksBehind()) {
        std::fflush(nullptr);
        _exit(code); // A rank's thread still uses what leaving `main` would take down.
    }
    return code;
}

/// What the engine will not do, so that nobody waits for it in vain.
void tellLeftOut(const CheckReport& checked)
{
    for (const auto& finding : checked.findings)
        if (finding.rule == "engine-leaves-out")
            std::fprintf(stderr, "%s\n", printable(finding.message).c_str());
}

/// The target's refusals, without the one that says what the engine cannot: that is told as an error of its
/// own.
std::vector<Finding> refusalsOf(const CheckReport& checked, const Result<RunPlan>& plan)
{
    auto refusing = startRefusals(checked, plan ? plan->mode : RunMode::Default);
    refusing.erase(std::remove_if(refusing.begin(), refusing.end(),
                                  [](const Finding& finding) { return finding.rule == "engine-cannot-run"; }),
                   refusing.end());
    return refusing;
}

} // namespace

void addTrainingOptions(CLI::App& command, TrainingOptions& options)
{
    addSetOption(command, options.changes);
    command.add_option("--name", options.name, "The run's name")->type_name("TEXT");
    command
        .add_option("--mode", options.mode,
                    "What to do where the target refuses: stop as it does, or train where this engine can")
        ->check(CLI::IsMember({"faithful", "extended"}));
    command
        .add_option("--grace", options.grace,
                    "Seconds that a step may still take once the run was asked to stop")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
    addHistoryOption(command, options.history);
    command.add_flag("--json", options.json,
                     "The run's summary as JSON, on the last line of standard output");
}

int notStarted(bool json, const Error& error)
{
    const int code = report(error);
    if (json)
        printJson({{"run", nullptr},
                   {"folder", nullptr},
                   {"state", "not_started"},
                   {"steps", 0},
                   {"skipped", 0},
                   {"final", Json::object()},
                   {"message", error.message},
                   {"hint", error.hint}});
    return code;
}

int trainSetup(const TrainingOptions& options, SetupArgument argument, const TrainingVariant& variant)
{
    auto changes = options.changes;
    if (!options.mode.empty())
        changes.push_back(std::string(field::mode.path) + "=" + options.mode);
    if (const auto changed = changeSetup(argument, changes); !changed) {
        (void)notStarted(options.json, changed.error());
        return Usage;
    }
    const auto& setup = argument.file.setup;
    const auto target = targetOf(setup);
    if (!target)
        return notStarted(options.json, target.error());
    const auto checked = checkFile(argument.file, *target);
    auto plan = planRun(setup);
    if (const auto refusing = refusalsOf(checked, plan); !refusing.empty())
        return refuse(options.json, argument, checked, refusing);
    if (!plan)
        return notStarted(options.json, plan.error());
    tellLeftOut(checked);
    RunRequest request;
    request.plan = *plan;
    request.setupText = argument.text;
    request.findingsJson = textOf(jsonOf(checked.findings));
    request.assumedJson = textOf(jsonOf(checked.assumed));
    request.name = options.name;
    request.history = options.history;
    request.resume = variant.resume;
    if (variant.adjust)
        variant.adjust(request);
    return runIt(options, request, variant);
}

} // namespace mantissa::cli
