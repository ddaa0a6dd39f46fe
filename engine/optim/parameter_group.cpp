#include "engine/optim/parameter_group.h"

#include <algorithm>

namespace mantissa {
namespace {

OptimizerPlan planOf(const OptimizerPlan& base, const GroupPlan* group, bool decayed)
{
    OptimizerPlan plan = base;
    if (group && group->learningRate)
        plan.learningRate = *group->learningRate;
    if (group && group->weightDecay)
        plan.weightDecay = *group->weightDecay;
    if (!decayed)
        plan.weightDecay = 0.0;
    return plan;
}

const GroupPlan* groupOf(const OptimizerPlan& plan, const std::string& name)
{
    const auto found = std::find_if(plan.groups.begin(), plan.groups.end(), [&](const GroupPlan& group) {
        return fitsPattern(group.parameters, name);
    });
    return found == plan.groups.end() ? nullptr : &*found;
}

} // namespace

bool fitsPattern(std::string_view pattern, std::string_view text)
{
    const auto star = pattern.find('*');
    if (star == std::string_view::npos)
        return pattern == text;
    if (!text.starts_with(pattern.substr(0, star)))
        return false;
    const auto rest = pattern.substr(star + 1);
    for (std::size_t from = star; from <= text.size(); ++from) {
        if (fitsPattern(rest, text.substr(from)))
            return true;
    }
    return false;
}

std::vector<ParameterGroup> parameterGroups(const OptimizerPlan& plan,
                                            const std::vector<ParameterShape>& parameters)
{
    struct Kind {
        const GroupPlan* group;
        bool decayed;
    };
    std::vector<Kind> kinds = {{nullptr, true}};
    std::vector<ParameterGroup> groups = {{planOf(plan, nullptr, true), {}}};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const GroupPlan* group = groupOf(plan, parameters[i].name);
        const bool decayed = !plan.decayMatricesOnly || parameters[i].dimensions > 1;
        const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
            return kind.group == group && kind.decayed == decayed;
        });
        const auto index = static_cast<std::size_t>(known - kinds.begin());
        if (known == kinds.end()) {
            kinds.push_back({group, decayed});
            groups.push_back({planOf(plan, group, decayed), {}});
        }
        groups[index].members.push_back(i);
    }
    return groups;
}

} // namespace mantissa
