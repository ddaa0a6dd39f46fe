#include "engine/train/trainer_impl.h"

namespace mantissa {

// The step of an optimizer that evaluates loss and gradients of one window several times.

double Trainer::Impl::meanOverRanks(double loss)
{
    // One loss for all: by their own ones the ranks would stop at different places.
    m_communicator.allReduce(&loss, 1, WireType::F64, ReduceOp::Sum);
    return loss / m_communicator.size();
}

double Trainer::Impl::evaluate(StepReport& report, const std::stop_token& stop)
{
    const double parts = divisor(windowEnd() - m_batch);
    m_window.clear();
    accumulateGradients(report, stop);
    finishGradients(report);
    m_watch.enter(report, Stage::Optimizer);
    return meanOverRanks(m_sums.loss / parts);
}

/// The same window with the weights as they are now. What the report has of it stays that of the first time.
double Trainer::Impl::evaluateAgain(const StepReport& report)
{
    const WindowSums sums = m_sums;
    const auto turnSums = m_turnSums;
    m_sums = {};
    StepReport again;
    again.step = report.step;
    const double parts = divisor(static_cast<std::int64_t>(m_window.size()));
    m_strategy->endOfStep(); // The weights have moved.
    m_strategy->zeroGradients();
    for (std::size_t i = 0; i < m_window.size(); ++i)
        backward(again, lossOf(again, m_window[i], m_weights) / parts, i + 1 == m_window.size());
    reduceGradients(again);
    clip(again);
    const double loss = meanOverRanks(m_sums.loss / parts);
    m_sums = sums;
    m_turnSums = turnSums;
    return loss;
}

void Trainer::Impl::updateByClosure(StepReport& report, const std::stop_token& stop)
{
    bool first = true;
    const Evaluation evaluation = {
        [&] {
            const at::AutoGradMode grad(true); // The optimizer's own arithmetic runs without.
            return std::exchange(first, false) ? evaluate(report, stop) : evaluateAgain(report);
        },
        [&](double part) { return m_strategy->sumOverShards(part); },
        [&](double part) { return m_strategy->maxOverShards(part); },
    };
    optimizer().stepWith(evaluation);
    m_strategy->endOfStep();
}

} // namespace mantissa
