#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <array>
#include <charconv>
#include <optional>

namespace mantissa {
namespace {

constexpr std::string_view kSlurm = "src/lightning/fabric/plugins/environments/slurm.py, ";

/// A variable of the run's environment that holds a number.
std::optional<std::int64_t> variable(const RuleContext& context, std::string_view name)
{
    const Value& value = context.at(field::envVars)[name];
    if (value.isInteger())
        return value.asInteger();
    const std::string text = value.asString();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                     : std::nullopt;
}

/// A batch job of SLURM; a shell that was asked for does not count.
bool isSlurmJob(const RuleContext& context)
{
    const Value& variables = context.at(field::envVars);
    const std::string job = variables["SLURM_JOB_NAME"].asString();
    return variables["SLURM_NTASKS"].isSet() && job != "bash" && job != "interactive";
}

void slurmTasks(RuleContext& context)
{
    const auto tasks = variable(context, "SLURM_NTASKS");
    if (!isSlurmJob(context) || tasks.value_or(1) <= 1
        || context.at(field::envVars)["SLURM_NTASKS_PER_NODE"].isSet())
        return;
    const std::string count = std::to_string(*tasks);
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::envVars.path});
    finding.message = "The SLURM job has --ntasks=" + count + " and no --ntasks-per-node.";
    finding.why = "The number of all tasks does not say how many run on a machine, so devices cannot be held "
                  "against it.";
    finding.source = inLightning(std::string(kSlurm) + "_validate_srun_variables");
    finding.engine = "cannot";
    finding.raises = "RuntimeError: You set `--ntasks=" + count
        + "` in your SLURM bash script, but this variable is not supported.";
    finding.fixes = {
        manualFix("Give the tasks of one machine", "#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=" + count)};
    context.report(std::move(finding));
}

struct JobSize {
    std::string_view variable;
    std::string_view option;
    const Field* flag;
    std::string_view raises;
};

void reportJob(RuleContext& context, const JobSize& size, std::int64_t asked)
{
    const auto there = variable(context, size.variable);
    if (!there || *there == asked)
        return;
    const std::string flag(size.flag->label);
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {size.flag->path, field::envVars.path});
    finding.message = flag + " comes to " + std::to_string(asked) + ", and the SLURM job has "
        + std::string(size.option) + "=" + std::to_string(*there) + ".";
    finding.why = "SLURM starts the processes, so the Trainer must count on as many as there are.";
    finding.source = inLightning(std::string(kSlurm) + "validate_settings");
    finding.engine = "cannot";
    finding.raises = "ValueError: You set `" + flag + "=" + std::to_string(asked)
        + "` in Lightning, but the number of " + std::string(size.raises) + " configured in SLURM `"
        + std::string(size.option) + "=" + std::to_string(*there) + "` does not match.";
    finding.fixes = {
        changingFix("Take what the job has", {setTo(size.flag->path, Value(*there))}),
        manualFix("Change the job", "#SBATCH " + std::string(size.option) + "=" + std::to_string(asked))};
    context.report(std::move(finding));
}

void slurmSizes(RuleContext& context)
{
    if (!isSlurmJob(context) || !isParallel(context) || !isCalled(context)
        || context.at(field::envInteractive).asBool())
        return;
    const std::int64_t nodes = context.at(field::numNodes).asInteger(1);
    const auto processes = processCount(context);
    if (processes && nodes > 0)
        reportJob(context, {"SLURM_NTASKS_PER_NODE", "--ntasks-per-node", &field::devices, "tasks per node"},
                  *processes / nodes);
    reportJob(context, {"SLURM_NNODES", "--nodes", &field::numNodes, "nodes"}, nodes);
}

/// torchrun says so by the id of the run.
void torchrunSize(RuleContext& context)
{
    const auto world = variable(context, "WORLD_SIZE");
    if (!context.at(field::envVars)["TORCHELASTIC_RUN_ID"].isSet() || !world || !isParallel(context)
        || !isCalled(context))
        return;
    const auto processes = processCount(context);
    if (!processes || *processes == *world)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::devices.path, field::numNodes.path, field::envVars.path});
    finding.message = "devices times num_nodes is " + std::to_string(*processes)
        + ", and torchrun has started " + std::to_string(*world) + " processes.";
    finding.why = "torchrun starts the processes, so the Trainer must count on as many as there are.";
    finding.source =
        inLightning("src/lightning/fabric/plugins/environments/torchelastic.py, validate_settings");
    finding.engine = "cannot";
    finding.raises = "ValueError: You set `devices=";
    const std::int64_t nodes = context.at(field::numNodes).asInteger(1);
    if (nodes > 0 && *world % nodes == 0)
        finding.fixes.push_back(changingFix("Take what torchrun has started",
                                            {setTo(field::devices.path, Value(*world / nodes))}));
    finding.fixes.push_back(manualFix("Start as many as the set-up asks for",
                                      "torchrun --nnodes=" + std::to_string(nodes) + " --nproc-per-node="
                                          + std::to_string(*processes / std::max<std::int64_t>(nodes, 1))
                                          + " train.py"));
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"slurm-tasks", kOfLightning, {"2.0"}, slurmTasks},
    Rule{"slurm-sizes", kOfLightning, {"2.0"}, slurmSizes},
    Rule{"torchrun-size", kOfLightning, {"2.0"}, torchrunSize},
};

} // namespace

std::span<const Rule> clusterRules()
{
    return kRules;
}

} // namespace mantissa
