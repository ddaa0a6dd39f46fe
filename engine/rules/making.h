#pragma once

#include "engine/rules/finding.h"

#include <initializer_list>
#include <string>
#include <string_view>

/// Small makers that keep the rules readable.
namespace mantissa {

/// A finding at its place; `paths` with the setting that is most to blame first.
inline Finding findingAt(Severity severity, Stage stage, std::initializer_list<std::string_view> paths)
{
    Finding finding;
    finding.severity = severity;
    finding.stage = stage;
    finding.paths.assign(paths.begin(), paths.end());
    return finding;
}

inline Edit setTo(std::string_view path, Value value)
{
    return {EditOp::Set, std::string(path), std::move(value)};
}
inline Edit unset(std::string_view path)
{
    return {EditOp::Unset, std::string(path), {}};
}
/// Drops an entry of a list of classes: removeEntry("trainer.callbacks", "EarlyStopping").
inline Edit removeEntry(std::string_view list, std::string_view name)
{
    return {EditOp::Remove, std::string(list) + "[" + std::string(name) + "]", {}};
}

inline Fix safeFix(std::string title, std::vector<Edit> edits, std::string text = {})
{
    return {std::move(title), FixGrade::Safe, std::move(edits), std::move(text), {}, {}};
}
inline Fix changingFix(std::string title, std::vector<Edit> edits, std::string text = {})
{
    return {std::move(title), FixGrade::Changes, std::move(edits), std::move(text), {}, {}};
}
inline Fix manualFix(std::string title, std::string text)
{
    return {std::move(title), FixGrade::Manual, {}, std::move(text), {}, {}};
}

/// Places in Lightning's sources. The version is the one whose behaviour was seen.
inline FindingSource inLightning(std::string where)
{
    return {"pytorch-lightning", "2.6.6", std::move(where)};
}
inline FindingSource inTorch(std::string where)
{
    return {"pytorch", "2.11.0", std::move(where)};
}

} // namespace mantissa
