#pragma once

#include "engine/recipe/field.h"
#include "engine/rules/check.h"
#include "engine/rules/rule.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// What a rule sees and where it reports. Keeps count of the facts that rules had to assume.
class RuleContext {
public:
    RuleContext(const Setup& setup, const Target& target) : m_setup(setup), m_target(target) {}
    RuleContext(const RuleContext&) = delete;
    RuleContext& operator=(const RuleContext&) = delete;

    const Setup& setup() const { return m_setup; }
    const Target& target() const { return m_target; }
    bool onFabric() const { return m_target.framework == Framework::Fabric; }
    const Value& at(std::string_view path) const { return m_setup.at(path); }
    const Value& at(const Field& field) const { return m_setup[field]; }

    /// A yes-or-no fact. Where nobody gave it, `fallback`, which then counts as assumed: `sentence` says what
    /// is taken to be true. Ask facts last, so that only those that matter are counted.
    bool fact(std::string_view path, bool fallback, std::string_view sentence);
    /// Counts an assumption that `fact` cannot express.
    void assume(std::string_view path, std::string_view sentence);

    void report(Finding finding);

    /// Runs one rule; what it reports carries its id.
    void run(const Rule& rule);

    const std::vector<Finding>& findings() const { return m_findings; }
    std::vector<Finding> takeFindings() { return std::move(m_findings); }
    std::vector<Assumption> takeAssumptions();

private:
    struct Asked {
        Assumption assumption;
        const Rule* lastRule = nullptr; ///< So that a rule that asks twice counts once.
    };

    const Setup& m_setup;
    const Target& m_target;
    const Rule* m_rule = nullptr;
    std::vector<Finding> m_findings;
    std::vector<Asked> m_asked;
};

/// Applies every rule that is about the target's program and version.
void runRules(RuleContext& context);

} // namespace mantissa
