#include "app/cli/batch.h"
#include "app/cli/command.h"
#include "app/cli/finding_lines.h"
#include "app/cli/json_text.h"
#include "app/cli/printable.h"
#include "app/cli/setup_argument.h"
#include "engine/rules/findings_json.h"
#include "engine/rules/text_findings.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string file;
    std::string batch;
    std::string target;
    bool json = false;
};

void printReport(const CheckReport& report, const SetupArgument& setup)
{
    for (const Finding& finding : report.findings)
        printFinding(stdout, finding, setup);
    for (const SuppressedFinding& entry : report.suppressed)
        std::printf("Suppressed: %s (%s)\n", entry.finding.rule.c_str(),
                    entry.reason.empty() ? "no reason given" : printable(entry.reason).c_str());
    for (const Assumption& assumption : report.assumed)
        std::printf("Assumed: %s (%s)\n", assumption.text.c_str(), assumption.path.c_str());
    std::printf("%s\n%s\n", printable(report.onTarget.words).c_str(), printable(report.here.words).c_str());
}

int checkOne(const Options& options)
{
    const auto setup = readSetupArgument(options.file);
    if (!setup)
        return report(setup.error());
    const auto target = targetArgument(options.target, setup->file.setup);
    if (!target)
        return options.target.empty() ? report(target.error()) : reportUsage(target.error());
    const auto checked = checkFile(setup->file, *target);
    if (options.json)
        printJson(jsonOf(checked, options.file));
    else
        printReport(checked, *setup);
    return !checked.findings.empty() && isError(checked.findings.front().severity) ? Findings : Ok;
}

int checkMany(const Options& options)
{
    const auto fallback = targetArgument(options.target, Setup());
    if (!fallback)
        return reportUsage(fallback.error());
    if (options.batch == "-")
        return checkBatch(std::cin, *fallback, options.json);
    std::ifstream rows(options.batch, std::ios::binary);
    std::error_code ignored; // A folder opens as well as a file does, and then reads as an empty one.
    if (!rows || std::filesystem::is_directory(options.batch, ignored))
        return report(
            {ErrorCode::Io, options.batch + " cannot be read.", "Give a file with a set-up a line."});
    return checkBatch(rows, *fallback, options.json);
}

int check(const Options& options)
{
    if (options.file.empty() == options.batch.empty()) {
        std::fprintf(stderr, "mantissa-cli: check takes a file, or --batch with a file of set-ups.\n");
        return Usage;
    }
    return options.batch.empty() ? checkOne(options) : checkMany(options);
}

} // namespace

void addCheck(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("check", "Find what will stop a set-up, before it starts");
    command->add_option("FILE", options->file, "Set-up in LightningCLI's YAML");
    command->add_option("--target", options->target,
                        "What the set-up is meant to run on, such as fabric-2.6.6");
    command->add_option("--batch", options->batch, "File with a set-up in each line; - reads standard input");
    command->add_flag("--json", options->json,
                      "JSON on standard output: one object, with --batch one a line");
    command->callback([&run, options] { run = [options] { return check(*options); }; });
}

} // namespace mantissa::cli
