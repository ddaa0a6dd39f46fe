#include "app/cli/command.h"
#include "app/cli/training_command.h"
#include "engine/history/resume_draft.h"
#include "engine/history/run_folder.h"
#include "engine/history/run_reader.h"

#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string run;
    ResumeWish wish;
    TrainingOptions training;
};

int resumeIt(Options options)
{
    const auto folder = findRun(options.training.history, options.run);
    if (!folder)
        return notStarted(options.training.json, folder.error());
    auto draft = draftResume(*folder, options.wish);
    if (!draft)
        return notStarted(options.training.json, draft.error());
    if (options.training.name.empty())
        options.training.name = draft->name;
    SetupArgument argument{(*folder / kSetupFile).string(), draft->setupText, readSetup(draft->setupText)};
    return trainSetup(options.training, std::move(argument), {.resume = draft->from});
}

} // namespace

void addResume(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command =
        app.add_subcommand("resume", "Go on with a stored run from a checkpoint, as a run of its own");
    command->add_option("RUN", options->run, "Id, name, the beginning of either, or a folder")->required();
    command->add_option("--to", options->wish.toSteps, "Until so many steps are made in all")
        ->type_name("STEPS")
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--from", options->wish.fromStep,
                     "From the newest checkpoint that is not after this step; else from the newest")
        ->type_name("STEP")
        ->check(CLI::NonNegativeNumber);
    addTrainingOptions(*command, options->training);
    command->callback([&run, options] { run = [options] { return resumeIt(*options); }; });
}

} // namespace mantissa::cli
