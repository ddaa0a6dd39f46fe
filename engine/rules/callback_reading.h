#pragma once

#include "engine/rules/finding.h"
#include "engine/rules/rule_context.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// One callback of the set-up: its arguments, and where they stand.
class CallbackReading {
public:
    CallbackReading(const Value& entry, std::string name) : m_entry(&entry), m_name(std::move(name)) {}

    /// An argument; absent where it is left to its default.
    const Value& operator[](std::string_view argument) const { return (*m_entry)["init_args"][argument]; }
    std::string path() const; ///< "trainer.callbacks[Timer#2]"
    std::string path(std::string_view argument) const;

    Fix without(std::string title, std::string text = {}) const;
    Fix with(std::string_view argument, Value value, std::string title, std::string text = {}) const;
    Fix byDefault(std::string_view argument, std::string title, std::string text = {}) const;

    /// A value that the class refuses when it is made.
    Finding refused(std::string_view argument, std::string_view function) const;

private:
    const Value* m_entry;
    std::string m_name;
};

/// Every callback of a class, in the order of the file.
std::vector<CallbackReading> callbacksNamed(const RuleContext& context, std::string_view className);
bool hasCallback(const RuleContext& context, std::string_view className);
/// Such callbacks taken out of the set-up.
Fix withoutCallback(std::string_view className, std::string title, std::string text = {});

/// "callbacks/timer.py, __init__" of a callback's own file.
FindingSource inCallback(std::string_view file, std::string_view function);

/// A fact that has no setting of its own, by what follows "mantissa.facts.".
const Value& otherFact(const RuleContext& context, std::string_view name);
/// A knob that has no place in the tree, by its whole name.
const Value& otherKnob(const RuleContext& context, std::string_view name);

/// What the Trainer does is asked for, beyond making it.
bool isUsed(const RuleContext& context);
/// A handful of batches to try the code.
bool isTrialRun(const RuleContext& context);
/// The last epoch is known; false where only steps or time end the run.
bool hasLastEpoch(const RuleContext& context);
/// Whether the Trainer has a logger of any kind.
bool hasLogger(const RuleContext& context);

} // namespace mantissa
