#include "app/cli/setup_argument.h"

namespace mantissa::cli {

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

Result<Target> targetArgument(const std::string& name, const Setup& setup)
{
    return name.empty() ? targetOf(setup) : targetNamed(name);
}

} // namespace mantissa::cli
