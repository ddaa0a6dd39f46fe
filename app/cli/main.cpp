#include "app/cli/command.h"
#include "app/cli/printable.h"
#include "engine/core/guarded.h"

#include <array>
#include <cstdio>

namespace mantissa::cli {
namespace {

// One line a command: its file registers options and body.
constexpr std::array kCommands = {addCheck, addDoctor, addFix,  addMemory, addResume, addRewind,
                                  addRuns,  addShadow, addShow, addTrain,  addVerify};

/// The exit code, unless what was printed did not get through: a full disk must not pass for success.
int whenWritten(int code)
{
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (written)
        return code;
    const int told =
        report({ErrorCode::Io, "The output could not be written.", "Look whether there is space left."});
    return code == Ok ? told : code;
}

/// What a command throws ends as one line with its exit code, like every other failure.
int runGuarded(const std::function<int()>& run)
{
    const auto code = guarded("The command broke off", [&]() -> Result<int> { return run(); });
    return code ? *code : report(code.error());
}

/// True, and told, where the first word is no command.
bool isUnknownCommand(const CLI::App& app, int argc, char** argv)
{
    const auto isMeant = [&](const CLI::App* command) { return command->check_name(argv[1]); };
    if (argc < 2 || argv[1][0] == '-' || !app.get_subcommands(isMeant).empty())
        return false;
    std::fprintf(stderr, "mantissa-cli: there is no command \"%s\".\n  The commands are",
                 printable(argv[1]).c_str());
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        std::fprintf(stderr, " %s", command->get_name().c_str());
    std::fputs(".\n", stderr);
    return true;
}

} // namespace

ExitCode exitCodeFor(ErrorCode code)
{
    switch (code) {
    case ErrorCode::InvalidSetup:
    case ErrorCode::NotFound:
    case ErrorCode::Io:
        return Unreadable;
    case ErrorCode::Damaged:
        return DamagedHistory;
    case ErrorCode::NotHere:
        return NotHere;
    case ErrorCode::Cancelled:
        return InterruptedByUser;
    default:
        return Findings;
    }
}

int report(const Error& error)
{
    std::fprintf(stderr, "mantissa-cli: %s\n", printableLines(error.message).c_str());
    if (!error.hint.empty())
        std::fprintf(stderr, "  %s\n", printableLines(error.hint).c_str());
    return exitCodeFor(error.code);
}

int reportUsage(const Error& error)
{
    (void)report(error);
    return Usage;
}

} // namespace mantissa::cli

int main(int argc, char** argv)
{
    using namespace mantissa::cli;
    CLI::App app("Mantissa: mixed-precision training set-ups, checked, repaired, trained and reviewed.");
    app.set_version_flag("--version", MANTISSA_VERSION);
    app.require_subcommand(1);
    std::function<int()> run;
    for (const auto add : kCommands)
        add(app, run);
    if (isUnknownCommand(app, argc, argv))
        return Usage;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? Ok : Usage;
    }
    return run ? whenWritten(runGuarded(run)) : static_cast<int>(Usage);
}
