#include "app/cli/command.h"
#include "app/cli/history_option.h"
#include "app/cli/json_text.h"
#include "app/cli/setup_argument.h"
#include "app/cli/text_table.h"
#include "engine/core/counted.h"
#include "engine/core/training_service.h"
#include "engine/history/resume_draft.h"
#include "engine/history/run_folder.h"
#include "engine/history/run_reader.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace mantissa::cli {
namespace {

struct Options {
    std::string file;
    std::string from; ///< RUN or RUN@STEP
    std::vector<std::string> changes;
    std::string history;
    std::int64_t batches = 1;
    bool json = false;
};

constexpr const char* kMeaning =
    "One optimizer step is made twice from the same weights and batches, in fp32 and in the set-up's "
    "precision, "
    "by the code that trains. Where a precision keeps its weights in 16 bits, rounding the first ones "
    "counts. "
    "It runs on one rank, on the rows that rank 0 takes first and with whole weights; no callback and no "
    "injected fault takes part.\n"
    "  ERROR      |x - x32| / |x32|, in the norm of squares; gradients have the loss scale divided out\n"
    "  FLUSHED    share of elements that are not zero in fp32 and are zero in the set-up's precision\n"
    "  SATURATED  share that is finite in fp32, and at its format's largest number, Inf or NaN in the other\n"
    "  STALLED    share of updates that are not zero in fp32 and leave the set-up's weight as it was";

Json rowJson(const ShadowRow& row)
{
    return {{"layer", row.layer},
            {"quantity", row.quantity},
            {"dtype", row.dtype},
            {"elements", row.elements},
            {"relative_error", jsonNumber(row.relativeError)},
            {"flushed", jsonNumber(row.flushed)},
            {"saturated", jsonNumber(row.saturated)},
            {"stalled", row.stalled ? jsonNumber(*row.stalled) : Json()}};
}

Json reportJson(const ShadowReport& report)
{
    Json json = {{"precision", report.precision},
                 {"ranks", report.ranks},
                 {"step", report.step},
                 {"epoch", report.epoch},
                 {"batches", report.batches},
                 {"samples", report.samples},
                 {"lr", jsonNumber(report.learningRate)},
                 {"loss", jsonNumber(report.loss)},
                 {"loss_fp32", jsonNumber(report.loss32)},
                 {"loss_scale", report.lossScale ? jsonNumber(*report.lossScale) : Json()},
                 {"skipped", report.skipped}};
    auto& rows = json["layers"] = Json::array();
    for (const auto& row : report.rows)
        rows.push_back(rowJson(row));
    return json;
}

std::string percent(double share)
{
    if (share == 0.0)
        return "0 %";
    std::array<char, 32> text = {};
    std::snprintf(text.data(), text.size(), "%.3g %%", share * 100.0);
    return text.data();
}

std::string errorText(double error)
{
    std::array<char, 32> text = {};
    std::snprintf(text.data(), text.size(), "%.2e", error);
    return std::isfinite(error) ? text.data() : std::isnan(error) ? "–" : "Infinity";
}

void printReport(const ShadowReport& report)
{
    std::printf("Step %lld in %s and in fp32: %s, loss %s and %s\n", static_cast<long long>(report.step),
                report.precision.c_str(), counted(report.samples, "row").c_str(),
                shortNumber(report.loss).c_str(), shortNumber(report.loss32).c_str());
    if (report.ranks > 1)
        std::printf("Computed on one rank with whole weights, for a set-up of %s.\n",
                    counted(report.ranks, "rank").c_str());
    if (report.lossScale)
        std::printf("Loss scale %s; gradients are compared without it.\n",
                    shortNumber(*report.lossScale).c_str());
    TextTable table({"LAYER", "WHAT", "FORMAT", "ELEMENTS", "ERROR", "FLUSHED", "SATURATED", "STALLED"});
    for (const auto& row : report.rows)
        table.add({row.layer, row.quantity, row.dtype, std::to_string(row.elements),
                   errorText(row.relativeError), percent(row.flushed), percent(row.saturated),
                   row.stalled ? percent(*row.stalled) : ""});
    table.print();
    if (report.skipped)
        std::puts(
            "The gradients overflow at this loss scale: the step was skipped, and there are no updates.");
}

struct Source {
    std::string run;
    std::optional<std::int64_t> step;
};

/// "baseline@40"; a run's own name may have an @ that no number follows.
Source sourceOf(const std::string& text)
{
    const auto at = text.rfind('@');
    std::int64_t step = -1;
    if (at == std::string::npos || at == 0)
        return {text, std::nullopt};
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + at + 1, end, step);
    if (parsed.ec != std::errc{} || parsed.ptr != end || step < 0)
        return {text, std::nullopt};
    return {text.substr(0, at), step};
}

Result<ResumeDraft> draftFrom(const Options& options)
{
    const Source source = sourceOf(options.from);
    const auto folder = findRun(options.history, source.run);
    if (!folder)
        return folder.error();
    return draftResume(*folder, {source.step, std::nullopt});
}

int shadowIt(const Options& options)
{
    if (options.file.empty() && options.from.empty())
        return reportUsage({ErrorCode::InvalidSetup, "There is nothing to look at.",
                            "Give a set-up file, or a stored run with --from."});
    ShadowRequest request;
    request.batches = options.batches;
    SetupArgument argument;
    if (!options.from.empty()) {
        const auto draft = draftFrom(options);
        if (!draft)
            return report(draft.error());
        request.checkpoint = draft->from.checkpoint;
        argument = {options.from, draft->setupText, readSetup(draft->setupText)};
    }
    if (!options.file.empty()) {
        auto read = readSetupArgument(options.file);
        if (!read)
            return report(read.error());
        argument = *std::move(read);
    }
    if (const auto changed = changeSetup(argument, options.changes); !changed)
        return reportUsage(changed.error());
    const auto plan = planRun(argument.file.setup);
    if (!plan)
        return report(plan.error());
    request.plan = *plan;
    const auto service = loadTrainingService();
    if (!service)
        return report(service.error());
    const auto answer = (*service)->shadow(request);
    if (!answer)
        return report(answer.error());
    if (options.json)
        printJson(reportJson(*answer));
    else
        printReport(*answer);
    return Ok;
}

} // namespace

void addShadow(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand(
        "shadow", "Make one step in fp32 and in the set-up's precision, and compare them layer by layer");
    command->footer(kMeaning);
    command->add_option("FILE", options->file, "The set-up; with --from alone, the run's own");
    addSetOption(*command, options->changes);
    command
        ->add_option(
            "--from", options->from,
            "Weights, optimizer and batch of a stored run: of its newest checkpoint, or of the newest "
            "that is not after STEP; else everything is fresh")
        ->type_name("RUN[@STEP]");
    command->add_option("--batches", options->batches, "Micro batches that the step takes")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    addHistoryOption(*command, options->history);
    command->add_flag("--json", options->json, "One JSON object on standard output");
    command->callback([&run, options] { run = [options] { return shadowIt(*options); }; });
}

} // namespace mantissa::cli
