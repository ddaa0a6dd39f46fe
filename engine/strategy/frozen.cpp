#include "engine/strategy/frozen.h"

#include "engine/core/listed.h"

#include <algorithm>

namespace mantissa {
namespace {

constexpr std::size_t kMostNames = 12;

std::string namesOf(const std::vector<ParameterSpec>& weights)
{
    const std::vector<ParameterSpec> few(
        weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(std::min(weights.size(), kMostNames)));
    const auto names = listed(few, [](const ParameterSpec& spec) { return spec.name; });
    return weights.size() > kMostNames ? names + ", … (" + std::to_string(weights.size()) + " in all)"
                                       : names;
}

} // namespace

Result<void> checkFrozen(const std::vector<ParameterSpec>& weights, const std::vector<std::string>& frozen)
{
    for (const auto& beginning : frozen) {
        const auto fits = [&](const ParameterSpec& spec) { return spec.name.starts_with(beginning); };
        if (std::none_of(weights.begin(), weights.end(), fits))
            return Error{ErrorCode::InvalidSetup,
                         "mantissa.frozen names '" + beginning + "', and no weight of the model begins so.",
                         "The model has " + namesOf(weights) + "."};
    }
    return {};
}

} // namespace mantissa
