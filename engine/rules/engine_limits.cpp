#include "engine/core/listed.h"
#include "engine/recipe/field.h"
#include "engine/recipe/left_out.h"
#include "engine/recipe/run_plan.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

/// The setting that the plan's words begin with: "trainer.precision is 64-true, which this engine cannot
/// run."
std::vector<std::string> pathsIn(const std::string& words)
{
    const std::string first = words.substr(0, words.find(' '));
    return fieldAt(first) ? std::vector<std::string>{first} : std::vector<std::string>{};
}

/// For a target of its own this is an error; for others it only says that training here is not possible.
void cannotRun(RuleContext& context)
{
    const auto plan = planRun(context.setup());
    if (plan)
        return;
    Finding finding;
    finding.severity =
        context.target().framework == Framework::Mantissa ? Severity::WontStart : Severity::Info;
    finding.stage = Stage::Configure;
    finding.paths = pathsIn(plan.error().message);
    finding.message = "This engine cannot train it: " + plan.error().message;
    finding.why =
        plan.error().hint.empty() ? "This engine runs a part of what can be checked." : plan.error().hint;
    finding.source = {"mantissa", MANTISSA_VERSION, "engine/recipe/run_plan.h"};
    finding.engine = "cannot";
    context.report(std::move(finding));
}

/// No fault of the set-up on any target: this engine does less with it.
void leavesOut(RuleContext& context)
{
    auto paths = settingsLeftOut(context.setup());
    if (paths.empty() || !planRun(context.setup()))
        return;
    Finding finding;
    finding.severity = Severity::Info;
    finding.stage = Stage::Configure;
    finding.message =
        "This engine trains without what " + listed(paths) + (paths.size() == 1 ? " asks" : " ask") + " for.";
    finding.why = "It is kept in the set-up, and changes nothing here.";
    finding.source = {"mantissa", MANTISSA_VERSION, "engine/recipe/left_out.h"};
    finding.engine = "cannot";
    finding.paths = std::move(paths);
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"engine-cannot-run", kOfLightning | kOfEngine, {}, cannotRun},
    Rule{"engine-leaves-out", kOfLightning | kOfEngine, {}, leavesOut},
};

} // namespace

std::span<const Rule> engineRules()
{
    return kRules;
}

} // namespace mantissa
