#include "engine/rules/rule_context.h"

#include <algorithm>

namespace mantissa {
namespace {

unsigned scopeOf(Framework framework)
{
    switch (framework) {
    case Framework::Trainer:
        return kOfTrainer;
    case Framework::Fabric:
        return kOfFabric;
    case Framework::Mantissa:
        return kOfEngine;
    }
    return kOfTrainer;
}

} // namespace

bool RuleContext::fact(std::string_view path, bool fallback, std::string_view sentence)
{
    const Value& given = at(path);
    if (given.isBool())
        return given.asBool();
    assume(path, sentence);
    return fallback;
}

void RuleContext::assume(std::string_view path, std::string_view sentence)
{
    auto known = std::find_if(m_asked.begin(), m_asked.end(),
                              [&](const Asked& asked) { return asked.assumption.path == path; });
    if (known == m_asked.end())
        known = m_asked.insert(m_asked.end(), {{std::string(path), std::string(sentence), 0}, nullptr});
    if (known->lastRule != m_rule || !m_rule)
        ++known->assumption.rules;
    known->lastRule = m_rule;
}

void RuleContext::report(Finding finding)
{
    if (m_rule)
        finding.rule = m_rule->id;
    m_findings.push_back(std::move(finding));
}

void RuleContext::run(const Rule& rule)
{
    m_rule = &rule;
    rule.check(*this);
    m_rule = nullptr;
}

std::vector<Assumption> RuleContext::takeAssumptions()
{
    std::vector<Assumption> result;
    for (auto& asked : m_asked)
        result.push_back(std::move(asked.assumption));
    m_asked.clear();
    return result;
}

void runRules(RuleContext& context)
{
    const Target& target = context.target();
    const unsigned scope = scopeOf(target.framework);
    for (const RuleTopic& topic : ruleTopics()) {
        for (const Rule& rule : topic.rules) {
            if ((rule.scope & scope) != 0 && rule.lightning.contains(target.lightning))
                context.run(rule);
        }
    }
}

} // namespace mantissa
