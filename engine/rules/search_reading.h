#pragma once

#include "engine/rules/finding.h"
#include "engine/rules/rule_context.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// A search for a batch size or learning rate: by a callback, or by a call of the Tuner before the run.
struct Search {
    std::string_view callback;
    std::string_view call;
    bool isCall = false;
    Value mode = {};
    Value margin = {};
    Value attribute = {}; ///< `attr_name`: the field of the learning rate.
    Value writesBack = {}; ///< `update_attr`
    Value method = {}; ///< Of a call: fit, validate, …
    std::string path = {};

    std::string name() const;
    std::string argumentPath(std::string_view argument) const;
    Fix without(std::string title) const;
};

std::vector<Search> batchSearches(const RuleContext& context);
std::vector<Search> rateSearches(const RuleContext& context);

} // namespace mantissa
