#pragma once

#include <span>
#include <string_view>

namespace mantissa {

class RuleContext;

/// Programs that a rule is about; a rule may be about several.
enum RuleScope : unsigned {
    kOfTrainer = 1,
    kOfFabric = 2,
    kOfEngine = 4,
    kOfLightning = kOfTrainer | kOfFabric
};

/// Versions in dotted numbers, from `since` up to, not including, `before`; empty: no end.
struct VersionRange {
    std::string_view since = {};
    std::string_view before = {};
    bool contains(std::string_view version) const;
};

/// One documented incompatibility: a pure function that looks at a set-up and reports what it finds.
struct Rule {
    std::string_view id;
    unsigned scope = kOfLightning;
    VersionRange lightning = {};
    void (*check)(RuleContext& context) = nullptr;
};

/// Rules about one subject: a file here, and a page of help with a section for each id.
struct RuleTopic {
    std::string_view id; ///< Also the name of the help page: resources/rules/<id>.md.
    std::string_view title;
    std::span<const Rule> rules;
};

std::span<const Rule> precisionRules();
std::span<const Rule> clippingRules();
std::span<const Rule> fsdpRules();
std::span<const Rule> accumulationRules();
std::span<const Rule> optimizerRules();
std::span<const Rule> stateRules();
std::span<const Rule> hardwareRules();
std::span<const Rule> deviceRules();
std::span<const Rule> clusterRules();
std::span<const Rule> strategyRules();
std::span<const Rule> pluginRules();
std::span<const Rule> shardingRules();
std::span<const Rule> deepspeedRules();
std::span<const Rule> barebonesRules();
std::span<const Rule> flagRules();
std::span<const Rule> validationRules();
std::span<const Rule> entryRules();
std::span<const Rule> resumeRules();
std::span<const Rule> loaderRules();
std::span<const Rule> samplerRules();
std::span<const Rule> moduleRules();
std::span<const Rule> clipCallRules();
std::span<const Rule> returnedRules();
std::span<const Rule> scheduleRules();
std::span<const Rule> averagingRules();
std::span<const Rule> finetuningRules();
std::span<const Rule> stoppingRules();
std::span<const Rule> batchFinderRules();
std::span<const Rule> tunerRules();
std::span<const Rule> checkpointRules();
std::span<const Rule> reportingRules();
std::span<const Rule> measuringRules();
std::span<const Rule> packageRules();
std::span<const Rule> effectRules();
std::span<const Rule> engineRules();

/// Every rule there is, by topic.
std::span<const RuleTopic> ruleTopics();
const Rule* ruleWithId(std::string_view id);

} // namespace mantissa
