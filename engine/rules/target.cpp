#include "engine/rules/target.h"

#include "engine/recipe/fields.h"
#include "engine/recipe/knobs.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

/// The version whose verdicts were measured: the real package was run over thousands of set-ups.
constexpr std::string_view kMeasuredLightning = "2.6.6";
constexpr std::string_view kMeasuredTorch = "2.11.0";

struct Named {
    std::string_view name;
    Framework framework;
    std::string_view lightning = kMeasuredLightning;
    std::optional<int> gpus = std::nullopt; ///< On all nodes together.
    std::string_view gpu = {};
    std::optional<int> nodes = std::nullopt;
};

bool isMeasured(const Target& target)
{
    return target.framework == Framework::Mantissa
        || (target.lightning == kMeasuredLightning && target.torch == kMeasuredTorch);
}

Target makeTarget(const Named& named)
{
    Target target;
    target.name = named.name;
    target.framework = named.framework;
    target.lightning = named.lightning;
    target.torch = kMeasuredTorch;
    target.gpus = named.gpus;
    target.gpu = named.gpu;
    target.nodes = named.nodes;
    target.verified = isMeasured(target);
    return target;
}

std::vector<Target> makeShipped()
{
    constexpr std::array kNamed = {
        Named{"trainer-2.6.6", Framework::Trainer},
        Named{"fabric-2.6.6", Framework::Fabric},
        Named{"mantissa", Framework::Mantissa},
        Named{"trainer-2.6.6-cpu", Framework::Trainer, kMeasuredLightning, 0},
        Named{"trainer-2.6.6-1-gpu", Framework::Trainer, kMeasuredLightning, 1, {}, 1},
        Named{"trainer-2.6.6-8-h100", Framework::Trainer, kMeasuredLightning, 8, "H100", 1},
        Named{"trainer-2.6.6-2x8-a100", Framework::Trainer, kMeasuredLightning, 16, "A100", 2},
        Named{"fabric-2.6.6-cpu", Framework::Fabric, kMeasuredLightning, 0},
        Named{"fabric-2.6.6-8-h100", Framework::Fabric, kMeasuredLightning, 8, "H100", 1},
        Named{"trainer-2.7.0", Framework::Trainer, "2.7.0"},
        Named{"trainer-2.5.6", Framework::Trainer, "2.5.6"},
        Named{"fabric-2.5.6", Framework::Fabric, "2.5.6"},
        Named{"trainer-2.1.4", Framework::Trainer, "2.1.4"},
    };
    std::vector<Target> targets;
    for (const Named& named : kNamed)
        targets.push_back(makeTarget(named));
    return targets;
}

Result<Framework> frameworkNamed(const std::string& name)
{
    for (const auto framework : {Framework::Trainer, Framework::Fabric, Framework::Mantissa}) {
        if (name == frameworkId(framework))
            return framework;
    }
    return Error{ErrorCode::InvalidSetup, "There is no framework \"" + name + "\".",
                 "A target's framework is trainer, fabric or mantissa."};
}

Error wrongType(const std::string& key, const Value& value, const char* wanted)
{
    return {ErrorCode::InvalidSetup,
            "The target's " + key + " is " + value.text() + ", which is no " + wanted + ".",
            "Write " + key + " as a " + wanted + ", or leave it out."};
}

Result<void> readText(const std::string& key, const Value& value, std::string& text)
{
    // 2.6 without quotes is a number in YAML; people mean the version.
    if (!value.isString() && !value.isNumber())
        return wrongType(key, value, "text");
    text = value.isString() ? value.asString() : value.text();
    return {};
}

Result<void> readCount(const std::string& key, const Value& value, std::optional<int>& count)
{
    if (!value.isInteger() || value.asInteger() < 0 || value.asInteger() > 1'000'000)
        return wrongType(key, value, "count");
    count = static_cast<int>(value.asInteger());
    return {};
}

std::vector<std::string> textsOf(const Value& list)
{
    std::vector<std::string> texts;
    for (const Value& item : list.asList())
        texts.push_back(item.asString());
    return texts;
}

Result<void> readEntry(Target& target, const std::string& key, const Value& value)
{
    if (value.isNull() || key == "name")
        return {};
    if (key == "framework") {
        const auto framework = frameworkNamed(value.asString());
        if (!framework)
            return framework.error();
        target.framework = *framework;
        return {};
    }
    if (key == "lightning")
        return readText(key, value, target.lightning);
    if (key == "torch")
        return readText(key, value, target.torch);
    if (key == "gpu")
        return readText(key, value, target.gpu);
    if (key == "os")
        return readText(key, value, target.os);
    if (key == "gpus")
        return readCount(key, value, target.gpus);
    if (key == "nodes")
        return readCount(key, value, target.nodes);
    if (key != "packages")
        return Error{ErrorCode::InvalidSetup, "A target has no setting \"" + key + "\".",
                     "It has name, framework, lightning, torch, gpus, gpu, nodes, packages and os."};
    if (!value.isList())
        return wrongType(key, value, "list");
    target.packages = textsOf(value);
    return {};
}

} // namespace

std::string_view frameworkId(Framework framework)
{
    switch (framework) {
    case Framework::Trainer:
        return "trainer";
    case Framework::Fabric:
        return "fabric";
    case Framework::Mantissa:
        return "mantissa";
    }
    return "trainer";
}

std::span<const Target> shippedTargets()
{
    static const std::vector<Target> targets = makeShipped();
    return targets;
}

std::vector<std::string> packagesOfRows()
{
    return {"psutil", "rich", "torchmetrics"};
}

Result<Target> targetNamed(std::string_view name)
{
    std::string names;
    for (const Target& target : shippedTargets()) {
        if (target.name == name)
            return target;
        names += (names.empty() ? "" : ", ") + target.name;
    }
    return Error{ErrorCode::NotFound, "There is no target named \"" + std::string(name) + "\".",
                 "The targets are " + names + "."};
}

Result<Target> targetFrom(const Value& value)
{
    if (!value.isSet())
        return shippedTargets().front();
    if (value.isString())
        return targetNamed(value.asString());
    if (!value.isMap())
        return Error{ErrorCode::InvalidSetup,
                     "The target is " + value.text() + ", which is neither a name nor a map.",
                     "Write a name such as trainer-2.6.6, or a map such as {framework: fabric, gpus: 8}."};
    const Value& name = value["name"];
    auto target = name.isSet() ? targetNamed(name.asString()) : Result<Target>(shippedTargets().front());
    if (!target)
        return target;
    for (const auto& [key, entry] : value.asMap()) {
        if (const auto read = readEntry(*target, key, entry); !read)
            return read.error();
    }
    target->verified = isMeasured(*target);
    if (!name.isSet() && !value.asMap().empty())
        target->name = std::string(frameworkId(target->framework)) + "-" + target->lightning;
    return target;
}

Result<Target> targetOf(const Setup& setup)
{
    return targetFrom(setup[field::target]);
}

Target withSurroundings(Target target, const Setup& setup)
{
    if (const Value& gpus = setup[field::envGpus]; gpus.isInteger())
        target.gpus = static_cast<int>(std::clamp<std::int64_t>(gpus.asInteger(), 0, 1'000'000));
    if (const Value& packages = setup[field::envPackages]; packages.isList())
        target.packages = textsOf(packages);
    if (const Value& torch = knobValue(setup, "env.torch_version"); torch.isString())
        target.torch = torch.asString();
    if (const Value& os = knobValue(setup, "env.os"); os.isString())
        target.os = os.asString();
    target.verified = isMeasured(target);
    return target;
}

} // namespace mantissa
