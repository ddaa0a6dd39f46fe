#include "app/cli/setup_argument.h"

#include "engine/recipe/flow_value.h"
#include "engine/recipe/setup_text.h"

namespace mantissa::cli {
namespace {

/// "trainer.precision=bf16-mixed"
Result<Edit> editOf(const std::string& change)
{
    const auto equals = change.find('=');
    if (equals == std::string::npos || equals == 0)
        return Error{ErrorCode::InvalidSetup, "--set " + change + " is not of the form path=value.",
                     "For instance --set trainer.max_steps=100."};
    return Edit{EditOp::Set, change.substr(0, equals), readFlowValue(change.substr(equals + 1))};
}

} // namespace

Result<SetupArgument> readSetupArgument(const std::string& path)
{
    auto text = readSetupText(path);
    if (!text)
        return text.error();
    SetupFile file = readSetup(*text);
    for (const SourceProblem& problem : file.problems) {
        if (problem.grade != ProblemGrade::Unreadable)
            continue;
        const SourcePoint& place = problem.span.begin;
        return Error{ErrorCode::InvalidSetup,
                     path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": "
                         + problem.message + " [" + problem.id + "]",
                     problem.hint};
    }
    if (file.setup == Setup())
        return Error{ErrorCode::InvalidSetup, path + " is empty: there is no setting in it.",
                     "Check that this is the right file, and that it was saved."};
    return SetupArgument{path, std::move(*text), std::move(file)};
}

void addSetOption(CLI::App& command, std::vector<std::string>& changes)
{
    command.add_option("--set", changes, "Change a setting for this run; may be repeated")
        ->type_name("PATH=VALUE")
        ->allow_extra_args(false);
}

Result<void> changeSetup(SetupArgument& argument, const std::vector<std::string>& changes)
{
    for (const auto& one : changes) {
        const auto edit = editOf(one);
        if (!edit)
            return edit.error();
        auto text = editSetupText(argument.text, {*edit});
        if (!text)
            return Error{text.error().code, "--set " + one + ": " + text.error().message, text.error().hint};
        argument.text = std::move(*text);
        argument.file = readSetup(argument.text);
    }
    return {};
}

Result<Target> targetArgument(const std::string& name, const Setup& setup)
{
    return name.empty() ? targetOf(setup) : targetNamed(name);
}

} // namespace mantissa::cli
