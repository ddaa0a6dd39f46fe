#include "engine/recipe/weight_catalogue.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace mantissa {

std::int64_t ParameterSpec::elements() const
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

int WeightCatalogue::addUnit(std::string name)
{
    m_units.push_back(std::move(name));
    return unitCount() - 1;
}

std::size_t WeightCatalogue::add(std::string name, std::vector<std::int64_t> shape, int unit, WeightKind kind)
{
    const auto before = std::count_if(m_specs.begin(), m_specs.end(),
                                      [unit](const ParameterSpec& spec) { return spec.unit == unit; });
    m_specs.push_back({std::move(name), std::move(shape), unit, kind});
    return static_cast<std::size_t>(before);
}

std::size_t WeightCatalogue::addPair(const std::string& name, std::vector<std::int64_t> weight,
                                     std::int64_t bias, int unit, WeightKind kind)
{
    const std::size_t place = add(name + ".weight", std::move(weight), unit, kind);
    add(name + ".bias", {bias}, unit, kind);
    return place;
}

} // namespace mantissa
