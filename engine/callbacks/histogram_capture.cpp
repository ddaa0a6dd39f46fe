#include "engine/callbacks/callback.h"
#include "engine/comm/communicator.h"
#include "engine/numerics/exponent_histogram.h"
#include "engine/strategy/strategy.h"

namespace mantissa {
namespace {

ExponentHistogram histogramOf(const at::Tensor& tensor, double factor)
{
    ExponentHistogram histogram;
    if (!tensor.defined() || tensor.numel() == 0)
        return histogram;
    at::Tensor floats = tensor.detach().to(at::kFloat).contiguous();
    if (factor != 1.0)
        floats = floats * (1.0 / factor);
    histogram.add(floats.const_data_ptr<float>(), static_cast<std::size_t>(floats.numel()));
    return histogram;
}

/// Every n steps: the exponents of weights after the step, of gradients before clipping, of what the step
/// changed. Of sharded tensors each rank counts its part; rank 0 keeps the sum.
class HistogramCapture final : public Callback {
public:
    explicit HistogramCapture(const HistogramPlan& plan) : m_plan(plan) {}

    void onBeforeOptimizerStep(TrainingView& view) override
    {
        const at::NoGradGuard noGrad;
        const auto& parameters = view.strategy().parameters();
        const bool again = std::exchange(m_step, view.step()) == view.step(); // another optimizer's turn
        if (!again) {
            m_due = view.step() % m_plan.everySteps == 0;
            m_found.clear();
            m_before.clear();
            m_seen.assign(parameters.size(), false);
        }
        if (!m_due || !counts(view))
            return;
        const bool inTurns = !view.plan().ownOptimizers.empty();
        for (std::size_t i = 0; i < parameters.size() && m_plan.gradients; ++i) {
            if (m_seen[i] || (inTurns && !parameters[i].grad().defined()))
                continue;
            m_seen[i] = true;
            add(view, i, "gradient", histogramOf(parameters[i].grad(), view.gradientFactor()));
        }
        if (again)
            return;
        for (std::size_t i = 0; i < parameters.size() && m_plan.updates; ++i)
            m_before.push_back(parameters[i].detach().clone());
    }

    void onTrainBatchEnd(TrainingView& view) override
    {
        if (!m_due || !view.endsWindow())
            return;
        m_due = false;
        const at::NoGradGuard noGrad;
        const auto& parameters = view.strategy().parameters();
        for (std::size_t i = 0; i < parameters.size() && counts(view); ++i) {
            if (m_plan.weights)
                add(view, i, "weight", histogramOf(parameters[i], 1.0));
            if (m_plan.updates && !view.skipped())
                add(view, i, "update", histogramOf(parameters[i].detach() - m_before[i], 1.0));
        }
        m_before.clear();
        if (isSharded(view))
            addUp(view.communicator(), view.strategy().holders());
        if (view.communicator().rank() == 0)
            view.keep(std::move(m_found));
        m_found.clear();
    }

private:
    static bool isSharded(TrainingView& view) { return view.strategy().holdsParts(); }
    /// Whole weights are the same on every rank: the first one counts for all.
    static bool counts(TrainingView& view) { return isSharded(view) || view.communicator().rank() == 0; }

    void add(TrainingView& view, std::size_t parameter, const char* quantity,
             const ExponentHistogram& exponents)
    {
        m_found.push_back({0, view.strategy().parameterNames()[parameter], quantity, exponents});
    }

    void addUp(Communicator& communicator, std::int64_t holders)
    {
        constexpr std::size_t kOthers = 4;
        std::vector<std::int64_t> numbers;
        for (const auto& found : m_found) {
            const auto& each = found.exponents;
            numbers.insert(numbers.end(), each.counts.begin(), each.counts.end());
            for (const auto other : {each.below, each.above, each.zeros, each.nonfinite})
                numbers.push_back(static_cast<std::int64_t>(other));
        }
        communicator.allReduce(numbers.data(), numbers.size(), WireType::I64, ReduceOp::Sum);
        for (auto& number : numbers)
            number /= holders; // each part was counted on every rank that holds it
        const std::int64_t* from = numbers.data();
        for (auto& found : m_found) {
            auto& each = found.exponents;
            std::copy_n(from, each.counts.size(), each.counts.begin());
            from += each.counts.size();
            each.below = static_cast<std::uint64_t>(from[0]);
            each.above = static_cast<std::uint64_t>(from[1]);
            each.zeros = static_cast<std::uint64_t>(from[2]);
            each.nonfinite = static_cast<std::uint64_t>(from[3]);
            from += kOthers;
        }
    }

    HistogramPlan m_plan;
    bool m_due = false;
    std::int64_t m_step = -1;
    std::vector<bool> m_seen; ///< Gradients of this step, by parameter.
    std::vector<at::Tensor> m_before;
    std::vector<TensorHistogram> m_found;
};

} // namespace

std::unique_ptr<Callback> makeHistogramCapture(const HistogramPlan& plan)
{
    return std::make_unique<HistogramCapture>(plan);
}

} // namespace mantissa
