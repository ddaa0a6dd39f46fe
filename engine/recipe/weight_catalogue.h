#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// How a weight is drawn at first. Residual: the last layer on the way back into a residual stream.
enum class WeightKind { Layer, Residual, Norm, Embedding };

/// A weight of the model: its name as PyTorch has it, its shape, and which unit it belongs to.
struct ParameterSpec {
    std::string name;
    std::vector<std::int64_t> shape;
    int unit = 0;
    WeightKind kind = WeightKind::Layer;

    std::int64_t elements() const;
};

/// The weights of a model in `param_order`, and the units that they belong to in forward order, the root
/// last.
class WeightCatalogue {
public:
    int addUnit(std::string name); ///< Its number.
    /// Where the weight stands in its unit.
    std::size_t add(std::string name, std::vector<std::int64_t> shape, int unit,
                    WeightKind kind = WeightKind::Layer);
    /// Weight and bias, in that order; where the weight stands.
    std::size_t addPair(const std::string& name, std::vector<std::int64_t> weight, std::int64_t bias,
                        int unit, WeightKind kind = WeightKind::Layer);

    const std::vector<ParameterSpec>& specs() const { return m_specs; }
    int unitCount() const { return static_cast<int>(m_units.size()); }
    const std::string& unitName(int unit) const { return m_units[static_cast<std::size_t>(unit)]; }

private:
    std::vector<ParameterSpec> m_specs;
    std::vector<std::string> m_units;
};

} // namespace mantissa
