#include "engine/rules/rule.h"

#include <array>
#include <charconv>

namespace mantissa {
namespace {

/// Takes the next number off a dotted version; what is no number ends it.
int nextPart(std::string_view& version)
{
    int part = 0;
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), part);
    if (error != std::errc()) {
        version = {};
        return 0;
    }
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (!version.empty() && version.front() == '.')
        version.remove_prefix(1);
    else
        version = {};
    return part;
}

bool isOlder(std::string_view left, std::string_view right)
{
    while (!left.empty() || !right.empty()) {
        const int a = nextPart(left);
        const int b = nextPart(right);
        if (a != b)
            return a < b;
    }
    return false;
}

} // namespace

bool VersionRange::contains(std::string_view version) const
{
    return !(isOlder(version, since) || (!before.empty() && !isOlder(version, before)));
}

std::span<const RuleTopic> ruleTopics()
{
    // One line a topic, in the order in which a set-up meets them.
    static const std::array topics = {
        RuleTopic{"flags", "The Trainer's flags", flagRules()},
        RuleTopic{"barebones", "Barebones", barebonesRules()},
        RuleTopic{"validation", "When to validate", validationRules()},
        RuleTopic{"hardware", "Hardware", hardwareRules()},
        RuleTopic{"devices", "Accelerator and devices", deviceRules()},
        RuleTopic{"cluster", "Clusters and launchers", clusterRules()},
        RuleTopic{"strategies", "Strategies", strategyRules()},
        RuleTopic{"plugins", "Plugins", pluginRules()},
        RuleTopic{"precision", "Precision and scalers", precisionRules()},
        RuleTopic{"fsdp", "Sharding", fsdpRules()},
        RuleTopic{"sharding", "FSDP and model parallelism", shardingRules()},
        RuleTopic{"deepspeed", "DeepSpeed", deepspeedRules()},
        RuleTopic{"entry", "Entry points", entryRules()},
        RuleTopic{"resume", "Checkpoints to load", resumeRules()},
        RuleTopic{"modules", "The module", moduleRules()},
        RuleTopic{"optimizer", "When and over what the optimizer is made", optimizerRules()},
        RuleTopic{"loaders", "Loaders", loaderRules()},
        RuleTopic{"samplers", "Samplers and batches", samplerRules()},
        RuleTopic{"returned", "What configure_optimizers returns", returnedRules()},
        RuleTopic{"schedules", "Learning-rate schedules", scheduleRules()},
        RuleTopic{"batch_finder", "Searching a batch size", batchFinderRules()},
        RuleTopic{"tuner", "Searching a learning rate; the Tuner", tunerRules()},
        RuleTopic{"averaging", "Averages of the weights", averagingRules()},
        RuleTopic{"finetuning", "Fine-tuning and pruning", finetuningRules()},
        RuleTopic{"stopping", "Stopping early", stoppingRules()},
        RuleTopic{"checkpoints", "Saving checkpoints", checkpointRules()},
        RuleTopic{"effects", "What callbacks leave undone", effectRules()},
        RuleTopic{"reporting", "Progress, summaries and monitors", reportingRules()},
        RuleTopic{"measuring", "Profilers and writers", measuringRules()},
        RuleTopic{"packages", "Packages that callbacks and loggers need", packageRules()},
        RuleTopic{"accumulation", "Accumulation and manual optimization", accumulationRules()},
        RuleTopic{"clipping", "Clipping and unscaling", clippingRules()},
        RuleTopic{"clip_calls", "Calls of clip_gradients", clipCallRules()},
        RuleTopic{"state", "Saved states", stateRules()},
        RuleTopic{"engine", "This engine", engineRules()},
    };
    return topics;
}

const Rule* ruleWithId(std::string_view id)
{
    for (const RuleTopic& topic : ruleTopics()) {
        for (const Rule& rule : topic.rules) {
            if (rule.id == id)
                return &rule;
        }
    }
    return nullptr;
}

} // namespace mantissa
