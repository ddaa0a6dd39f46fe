#include "engine/train/shadow_compare.h"

#include "engine/tensor/dtype.h"
#include "engine/train/layer_probe.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {
namespace {

double largestOf(at::ScalarType type)
{
    double largest = 0.0;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "largestOf", [&] {
        largest = static_cast<double>(std::numeric_limits<scalar_t>::max());
    });
    return largest;
}

/// Adds up one quantity of one layer, tensor after tensor.
class Comparison {
public:
    /// `factor` divides a loss scale out of `low`; `exact` has none.
    void add(const at::Tensor& low, const at::Tensor& exact, double factor)
    {
        const at::Tensor x = low.detach().to(at::kDouble).flatten();
        const at::Tensor x32 = exact.detach().to(at::kDouble).flatten();
        m_dtype = low.scalar_type();
        m_elements += x32.numel();
        addError(x * factor, x32);
        m_flushed += sum(x32.ne(0).logical_and(x.eq(0)));
        // A NaN is not below anything.
        m_saturated += sum(x32.isfinite().logical_and(x.abs().lt(largestOf(m_dtype)).logical_not()));
    }

    void addUpdate(const at::Tensor& before, const at::Tensor& after, const at::Tensor& exact)
    {
        const at::Tensor change =
            (after.detach().to(at::kDouble) - before.detach().to(at::kDouble)).flatten();
        const at::Tensor change32 = exact.flatten();
        m_dtype = after.scalar_type();
        m_elements += change32.numel();
        addError(change, change32);
        m_saturated += sum(change32.isfinite().logical_and(
            after.detach().to(at::kDouble).flatten().abs().lt(largestOf(m_dtype)).logical_not()));
        m_stalled = m_stalled.value_or(0.0) + sum(change32.ne(0).logical_and(change.eq(0)));
    }

    bool empty() const { return m_elements == 0; }

    ShadowRow row(std::string layer, std::string_view quantity) const
    {
        const auto all = static_cast<double>(m_elements);
        ShadowRow row;
        row.layer = std::move(layer);
        row.quantity = quantity;
        row.dtype = dtypeName(m_dtype);
        row.elements = m_elements;
        row.relativeError = m_squares32 > 0.0 ? std::sqrt(m_differences / m_squares32)
                                              : std::numeric_limits<double>::quiet_NaN();
        row.flushed = m_flushed / all;
        row.saturated = m_saturated / all;
        if (m_stalled)
            row.stalled = *m_stalled / all;
        return row;
    }

private:
    static double sum(const at::Tensor& tensor) { return tensor.sum().item<double>(); }

    void addError(const at::Tensor& x, const at::Tensor& x32)
    {
        m_differences += sum((x - x32).square());
        m_squares32 += sum(x32.square());
    }

    at::ScalarType m_dtype = at::kFloat;
    std::int64_t m_elements = 0;
    double m_differences = 0.0;
    double m_squares32 = 0.0;
    double m_flushed = 0.0;
    double m_saturated = 0.0;
    std::optional<double> m_stalled;
};

class Rows {
public:
    Rows(const ShadowSide& asked, const ShadowSide& exact) : m_asked(asked), m_exact(exact) {}

    std::vector<ShadowRow> make()
    {
        const double scale = m_asked.report.lossScale.value_or(1.0);
        for (std::size_t unit = 0; unit < m_asked.units.size(); ++unit) {
            addLayer(unit, layer_quantity::kOutput, shadow_quantity::kActivation, 1.0);
            addLayer(unit, layer_quantity::kOutputGradient, shadow_quantity::kActivationGradient,
                     1.0 / scale);
            addGradients(unit);
            if (!m_asked.report.skipped)
                addUpdates(unit);
        }
        return std::move(m_rows);
    }

private:
    void put(const Comparison& comparison, std::size_t unit, std::string_view quantity)
    {
        if (!comparison.empty())
            m_rows.push_back(comparison.row(m_asked.units[unit], quantity));
    }

    void addLayer(std::size_t unit, const char* probed, std::string_view quantity, double factor)
    {
        const std::pair<std::string, std::string> key(m_asked.units[unit], probed);
        const auto low = m_asked.layers.find(key);
        const auto exact = m_exact.layers.find(key);
        if (low == m_asked.layers.end() || exact == m_exact.layers.end())
            return;
        Comparison comparison;
        for (std::size_t i = 0; i < std::min(low->second.size(), exact->second.size()); ++i)
            comparison.add(low->second[i], exact->second[i], factor);
        put(comparison, unit, quantity);
    }

    template <typename Body>
    void forWeights(std::size_t unit, const Body& body) const
    {
        for (std::size_t i = 0; i < m_asked.unitOf.size(); ++i)
            if (m_asked.unitOf[i] == static_cast<int>(unit) && m_asked.gradients.at(i).defined()
                && m_exact.gradients.at(i).defined())
                body(i);
    }

    void addGradients(std::size_t unit)
    {
        Comparison comparison;
        forWeights(unit, [&](std::size_t i) {
            comparison.add(m_asked.gradients[i], m_exact.gradients[i], m_asked.gradientFactor);
        });
        put(comparison, unit, shadow_quantity::kWeightGradient);
    }

    void addUpdates(std::size_t unit)
    {
        Comparison comparison;
        forWeights(unit, [&](std::size_t i) {
            comparison.addUpdate(m_asked.before[i], m_asked.after[i],
                                 m_exact.after[i].to(at::kDouble) - m_exact.before[i].to(at::kDouble));
        });
        put(comparison, unit, shadow_quantity::kUpdate);
    }

    const ShadowSide& m_asked;
    const ShadowSide& m_exact;
    std::vector<ShadowRow> m_rows;
};

} // namespace

ShadowReport compareSides(const ShadowSide& asked, const ShadowSide& exact)
{
    ShadowReport report;
    report.step = asked.report.step;
    report.epoch = asked.report.epoch;
    report.batches = asked.report.batches;
    report.samples = asked.report.samples;
    report.learningRate = asked.report.learningRate;
    report.loss = asked.report.loss;
    report.loss32 = exact.report.loss;
    report.lossScale = asked.report.lossScale;
    report.skipped = asked.report.skipped;
    report.rows = Rows(asked, exact).make();
    return report;
}

} // namespace mantissa
