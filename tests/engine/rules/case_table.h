#pragma once

#include "engine/recipe/knobs.h"
#include "engine/recipe/value_json.h"
#include "engine/rules/check.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// A line of tests/data/rules/<topic>.jsonl: a set-up that triggers a rule, nearly does, or is cured by a
/// fix.
struct RuleCase {
    std::string rule;
    std::string kind;
    nlohmann::json row;

    std::string text(const char* key) const { return row.value(key, std::string()); }
    mantissa::Target target() const { return *mantissa::targetFrom(mantissa::valueFromJson(row["target"])); }
    mantissa::Setup setup() const
    {
        mantissa::Knobs knobs;
        for (const auto& [name, value] : row["knobs"].items())
            knobs.emplace(name, mantissa::valueFromJson(value));
        auto setup = mantissa::setupFromKnobs(knobs);
        const auto others = row.value("set", nlohmann::json::object());
        for (const auto& [path, value] : others.items())
            (void)setup.set(path, mantissa::valueFromJson(value)); // Settings that have no knob.
        return setup;
    }
};

inline std::vector<RuleCase> ruleCases()
{
    std::vector<RuleCase> cases;
    for (const auto& entry : std::filesystem::directory_iterator(TEST_DATA "/rules")) {
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            const auto row = nlohmann::json::parse(line);
            cases.push_back({row["rule"], row["kind"], row});
        }
    }
    return cases;
}

inline const mantissa::Finding* findingOf(const std::vector<mantissa::Finding>& findings,
                                          const std::string& rule)
{
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const mantissa::Finding& finding) { return finding.rule == rule; });
    return found == findings.end() ? nullptr : &*found;
}

inline const mantissa::Fix* fixTitled(const mantissa::Finding& finding, const std::string& title)
{
    const auto found = std::find_if(finding.fixes.begin(), finding.fixes.end(),
                                    [&](const mantissa::Fix& fix) { return fix.title.starts_with(title); });
    return found == finding.fixes.end() ? nullptr : &*found;
}
