#include "app/cli/command.h"
#include "app/cli/json_text.h"
#include "app/cli/line_diff.h"
#include "app/cli/setup_argument.h"
#include "engine/core/replace_file.h"
#include "engine/recipe/setup_text.h"
#include "engine/rules/rule.h"
#include "engine/rules/text_findings.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string file;
    std::string rule;
    std::string target;
    bool dryRun = false;
    bool json = false;
};

/// What is to be done to a file.
struct Repair {
    std::vector<std::string> titles;
    std::vector<Edit> edits;
    std::string note; ///< Why there is nothing to do, or what is left to the user.
};

Repair repairOf(const CheckReport& checked, const std::string& rule)
{
    for (const Finding& finding : checked.findings) {
        if (finding.rule != rule)
            continue;
        for (const Fix& fix : finding.fixes) {
            if (!fix.edits.empty())
                return {{fix.title}, fix.edits, fix.text};
        }
        const std::string words =
            finding.fixes.empty() ? std::string("no way out is known") : finding.fixes.front().text;
        return {{}, {}, rule + " needs a hand: " + words};
    }
    return {{}, {}, "The set-up has no finding of " + rule + "."};
}

Repair safeRepair(const Setup& setup, const Target& target)
{
    auto fixed = fixAllSafe(setup, target);
    std::string note;
    if (fixed.cycle)
        note = "The last fix led back to an earlier set-up, so fixing ended there.";
    else if (fixed.applied.empty())
        note = "There is no safe fix to apply. See check for the others, and fix --rule.";
    return {std::move(fixed.applied), std::move(fixed.edits), std::move(note)};
}

void printText(const Options& options, const Repair& repair, const std::string& diff)
{
    for (const std::string& title : repair.titles)
        std::printf("%s: %s\n", options.dryRun ? "Would apply" : "Applied", title.c_str());
    if (!repair.note.empty())
        std::printf("%s\n", repair.note.c_str());
    if (options.dryRun)
        std::fputs(diff.c_str(), stdout);
}

std::vector<std::string> errorsLeft(const CheckReport& checked)
{
    std::vector<std::string> rules;
    for (const Finding& finding : checked.findings) {
        if (isError(finding.severity))
            rules.push_back(finding.rule);
    }
    return rules;
}

int finish(const Options& options, const SetupArgument& setup, const Repair& repair, const Target& target)
{
    const auto text = editSetupText(setup.text, repair.edits);
    if (!text)
        return report(text.error());
    const std::string diff = lineDiff(setup.text, *text, options.file);
    const bool write = !options.dryRun && *text != setup.text;
    if (write) {
        if (const auto written = replaceFile(options.file, *text); !written)
            return report(written.error());
    }
    const auto left = errorsLeft(checkFile(readSetup(*text), target));
    if (options.json)
        printJson({{"file", options.file},
                   {"applied", repair.titles},
                   {"note", repair.note},
                   {"diff", diff},
                   {"written", write},
                   {"errors_left", left}});
    else
        printText(options, repair, diff);
    return left.empty() ? Ok : Findings;
}

bool isKnown(const std::string& rule, const CheckReport& checked)
{
    return ruleWithId(rule) != nullptr
        || std::any_of(checked.findings.begin(), checked.findings.end(),
                       [&](const Finding& finding) { return finding.rule == rule; });
}

int fix(const Options& options)
{
    const auto setup = readSetupArgument(options.file);
    if (!setup)
        return report(setup.error());
    const auto target = targetArgument(options.target, setup->file.setup);
    if (!target)
        return options.target.empty() ? report(target.error()) : reportUsage(target.error());
    if (options.rule.empty())
        return finish(options, *setup, safeRepair(setup->file.setup, *target), *target);
    const auto checked = checkFile(setup->file, *target);
    if (!isKnown(options.rule, checked)) {
        std::fprintf(stderr,
                     "mantissa-cli: there is no rule \"%s\".\n  check %s names the rules of its findings.\n",
                     options.rule.c_str(), options.file.c_str());
        return Usage;
    }
    return finish(options, *setup, repairOf(checked, options.rule), *target);
}

} // namespace

void addFix(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("fix", "Apply the safe fixes, or the first fix of one rule");
    command->add_option("FILE", options->file, "Set-up in LightningCLI's YAML")->required();
    command->add_option("--rule", options->rule, "Apply the first fix of this rule, safe or not");
    command->add_option("--target", options->target,
                        "What the set-up is meant to run on, such as fabric-2.6.6");
    command->add_flag("--dry-run", options->dryRun, "Print the difference and write nothing");
    command->add_flag("--json", options->json, "One JSON object on standard output");
    command->callback([&run, options] { run = [options] { return fix(*options); }; });
}

} // namespace mantissa::cli
