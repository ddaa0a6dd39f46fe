#include "app/cli/command.h"
#include "app/cli/json_text.h"
#include "app/cli/setup_argument.h"
#include "app/cli/text_table.h"
#include "engine/core/counted.h"
#include "engine/interop/model_sizes.h"
#include "engine/recipe/memory_forecast.h"
#include "engine/recipe/model_weights.h"

#include <array>
#include <cstdio>
#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string file;
    std::string sizes;
    std::vector<std::string> changes;
    bool json = false;
};

/// What is asked about: a plan, and the blocks of its model or of somebody else's.
struct Asked {
    RunPlan plan;
    std::vector<UnitSize> blocks;
    bool rootAround = false;
};

struct Way {
    std::string name;
    RunPlan plan;
};

constexpr std::array kShardings = {
    std::pair{Sharding::Full, "fsdp FULL_SHARD"},
    std::pair{Sharding::GradOp, "fsdp SHARD_GRAD_OP"},
    std::pair{Sharding::None, "fsdp NO_SHARD"},
};

/// The ways to share the same work, this engine's own strategies.
std::vector<Way> waysOf(const RunPlan& plan)
{
    std::vector<Way> ways = {{"the set-up", plan}};
    const auto add = [&](std::string name, StrategyKind kind, Sharding sharding) {
        RunPlan other = plan;
        other.strategy = kind;
        other.shards.sharding = sharding;
        other.shards.replicas = 1;
        ways.push_back({std::move(name), std::move(other)});
    };
    add("ddp", StrategyKind::Ddp, Sharding::Full);
    add("zero1", StrategyKind::Zero1, Sharding::Full);
    for (const auto& [sharding, name] : kShardings)
        add(name, StrategyKind::Fsdp, sharding);
    add("fsdp2", StrategyKind::Fsdp2, Sharding::Full);
    return ways;
}

MemoryTerms termsOf(const Asked& asked, const RunPlan& plan)
{
    MemoryQuestion question = memoryQuestion(plan, asked.blocks);
    question.rootAround = asked.rootAround;
    return estimateMemory(question);
}

std::vector<UnitSize> blocksOf(const ModelSizes& sizes)
{
    std::vector<UnitSize> blocks;
    for (const auto& unit : sizes.units)
        blocks.push_back({unit.name, {unit.elements}});
    return blocks;
}

/// With the sizes of another model, the set-up's own is not needed: any of this engine stands in for it.
Result<Asked> askAboutSizes(Setup setup, const std::string& file)
{
    const auto sizes = readModelSizes(file);
    if (!sizes)
        return sizes.error();
    (void)setup.set("model", ValueMap{{"class_path", Value("mantissa.MLP")}});
    (void)setup.set("data", ValueMap{{"class_path", Value("mantissa.Synthetic")}});
    auto plan = planRun(setup);
    if (!plan)
        return plan.error();
    return Asked{std::move(*plan), blocksOf(*sizes), true};
}

Result<Asked> ask(const Setup& setup, const std::string& sizes)
{
    if (!sizes.empty())
        return askAboutSizes(setup, sizes);
    auto plan = planRun(setup);
    if (!plan)
        return Error{plan.error().code, plan.error().message,
                     plan.error().hint
                         + " For the sizes of another model give --sizes with its safetensors file, "
                           "its index or its config.json."};
    const auto weights = modelWeights(plan->model);
    if (!weights)
        return Error{ErrorCode::NotHere, "The sizes of a TorchScript file are known once it trains.",
                     "Export its weights as safetensors and give that file with --sizes."};
    const bool around = weights->specs().front().unit == weights->unitCount() - 1;
    return Asked{std::move(*plan), blockSizes(*weights), around};
}

std::string mebibytes(std::uint64_t bytes)
{
    std::array<char, 32> text = {};
    std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(bytes) / (1024.0 * 1024.0));
    return text.data();
}

std::int64_t elementsOf(const std::vector<UnitSize>& blocks)
{
    std::int64_t elements = 0;
    for (const auto& block : blocks)
        elements += block.elements();
    return elements;
}

void printTable(const Asked& asked)
{
    std::printf("Computed for one of %s: %s in %s, precision %s. MiB.\n",
                counted(asked.plan.ranks, "rank").c_str(),
                counted(elementsOf(asked.blocks), "weight").c_str(),
                counted(static_cast<std::int64_t>(asked.blocks.size()), "unit").c_str(),
                std::string(precisionId(asked.plan.precision)).c_str());
    TextTable table({"SHARED BY", "WEIGHTS", "GATHERED", "GRADIENTS", "ON THEIR WAY", "OPTIMIZER", "TOTAL"});
    for (const auto& way : waysOf(asked.plan)) {
        const MemoryTerms terms = termsOf(asked, way.plan);
        table.add({way.name, mebibytes(terms.parameters), mebibytes(terms.gathered),
                   mebibytes(terms.gradients), mebibytes(terms.reduction), mebibytes(terms.optimizer),
                   mebibytes(terms.total())});
    }
    table.print();
    std::printf("Not counted:\n");
    for (const auto sentence : memoryLeftOut())
        std::printf("  %s\n", std::string(sentence).c_str());
}

Json termsJson(const MemoryTerms& terms)
{
    return {{"parameters", terms.parameters}, {"gathered", terms.gathered},   {"gradients", terms.gradients},
            {"reduction", terms.reduction},   {"optimizer", terms.optimizer}, {"total", terms.total()}};
}

Json answerJson(const std::string& file, const Asked& asked)
{
    Json json = {{"file", file},
                 {"ranks", asked.plan.ranks},
                 {"precision", precisionId(asked.plan.precision)},
                 {"weights", elementsOf(asked.blocks)},
                 {"unit", "bytes of one rank, computed"}};
    auto& ways = json["ways"] = Json::array();
    for (const auto& way : waysOf(asked.plan))
        ways.push_back({{"name", way.name}, {"terms", termsJson(termsOf(asked, way.plan))}});
    auto& leftOut = json["not_counted"] = Json::array();
    for (const auto sentence : memoryLeftOut())
        leftOut.push_back(sentence);
    return json;
}

int forecast(const Options& options)
{
    auto argument = readSetupArgument(options.file);
    if (!argument)
        return report(argument.error());
    if (const auto changed = changeSetup(*argument, options.changes); !changed)
        return report(changed.error());
    const auto asked = ask(argument->file.setup, options.sizes);
    if (!asked)
        return report(asked.error());
    if (options.json)
        printJson(answerJson(options.file, *asked));
    else
        printTable(*asked);
    return Ok;
}

} // namespace

void addMemory(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand(
        "memory",
        "Compute the memory of a rank, term by term, for the set-up and for other ways to share it");
    command->add_option("file", options->file, "The set-up")->required();
    command->add_option("--sizes", options->sizes,
                        "Another model: a safetensors file, an index of several, or a config.json");
    addSetOption(*command, options->changes);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &run] { run = [options] { return forecast(*options); }; });
}

} // namespace mantissa::cli
