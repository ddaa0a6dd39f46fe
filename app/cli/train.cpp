#include "app/cli/command.h"
#include "app/cli/training_command.h"

#include <filesystem>
#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string file;
    TrainingOptions training;
};

int trainIt(Options options)
{
    auto argument = readSetupArgument(options.file);
    if (!argument)
        return notStarted(options.training.json, argument.error());
    if (options.training.name.empty())
        options.training.name = std::filesystem::path(options.file).stem().string();
    return trainSetup(options.training, *std::move(argument));
}

} // namespace

void addTrain(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("train", "Train a set-up and store the run");
    command->add_option("FILE", options->file, "Set-up in LightningCLI's YAML")->required();
    addTrainingOptions(*command, options->training);
    command->callback([&run, options] { run = [options] { return trainIt(*options); }; });
}

} // namespace mantissa::cli
