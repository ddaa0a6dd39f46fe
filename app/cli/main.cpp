#include "app/cli/command.h"

#include <array>
#include <cstdio>

namespace mantissa::cli {
namespace {

// One line a command: its file registers options and body.
constexpr std::array kCommands = {addCheck, addFix, addRuns, addShow, addTrain, addVerify};

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
    std::fprintf(stderr, "mantissa-cli: %s\n", error.message.c_str());
    if (!error.hint.empty())
        std::fprintf(stderr, "  %s\n", error.hint.c_str());
    return exitCodeFor(error.code);
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
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? Ok : Usage;
    }
    return run ? run() : static_cast<int>(Usage);
}
