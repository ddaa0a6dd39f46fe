#include "engine/train/trainer_turns.h"

#include "engine/train/trainer_impl.h"

#include <algorithm>
#include <cmath>
#include <numeric>

// A step of a model that brings several optimizers: each has its own passes, reduction, unscaling and step.
namespace mantissa {
namespace {

template <typename Entry>
std::vector<Entry> chosen(const std::vector<Entry>& all, const std::vector<std::size_t>& members)
{
    std::vector<Entry> some;
    for (const std::size_t member : members)
        some.push_back(all[member]);
    return some;
}

std::vector<ParameterShape> shapesOf(const Model& model)
{
    std::vector<ParameterShape> shapes;
    for (const auto& spec : model.parameters())
        shapes.push_back({spec.name, static_cast<std::int64_t>(spec.shape.size())});
    return shapes;
}

void add(UpdateTally& sum, const UpdateTally& more)
{
    sum.parameterSquares += more.parameterSquares;
    sum.changeSquares += more.changeSquares;
    sum.changed += more.changed;
    sum.driven += more.driven;
    sum.stalled += more.stalled;
}

} // namespace

std::vector<Turn> makeTurns(const RunPlan& plan, const Model& model, const Strategy& strategy)
{
    const auto shapes = shapesOf(model);
    std::vector<Turn> turns;
    const auto addTurn = [&](const OptimizerPlan& optimizer, std::vector<std::size_t> members) {
        const auto parameters = chosen(strategy.parameters(), members);
        turns.push_back({makeOptimizer(optimizer, parameters, chosen(shapes, members)), std::move(members),
                         UpdateMeter(parameters)});
    };
    for (const auto& own : plan.ownOptimizers) {
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < shapes.size(); ++i)
            if (shapes[i].name.starts_with(own.name + "."))
                members.push_back(i);
        addTurn(own.plan, std::move(members));
    }
    if (!turns.empty())
        return turns;
    std::vector<std::size_t> all(shapes.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    addTurn(plan.optimizer, std::move(all));
    return turns;
}

std::int64_t stepsOf(const std::vector<TurnSums>& turns)
{
    return std::accumulate(turns.begin(), turns.end(), std::int64_t{0},
                           [](std::int64_t sum, const TurnSums& turn) { return sum + turn.steps; });
}

/// The first optimizer steps on every batch of the window, the others on its last.
void Trainer::Impl::updateInTurns(StepReport& report, const std::stop_token& stop)
{
    for (const auto& own : m_plan.ownOptimizers)
        report.turns.push_back({own.name});
    for (const std::int64_t end = windowEnd(); m_batch < end; ++m_batch, ++m_globalBatch) {
        const Batch batch = fetch(report, m_batch, stop);
        const std::size_t turns = m_endsWindow ? m_turns.size() : 1;
        for (m_turn = 0; m_turn < turns; ++m_turn)
            takeTurn(report, batch);
        m_turn = 0;
        if (!m_endsWindow)
            closeBatch();
    }
    report.leftOut = m_left == static_cast<std::int64_t>(report.losses.size());
}

void Trainer::Impl::takeTurn(StepReport& report, const Batch& batch)
{
    m_strategy->zeroGradients();
    const std::int64_t leftBefore = m_left;
    const std::int64_t skippedBefore = report.skippedSteps;
    pass(report, batch, 1.0, true);
    if (m_left > leftBefore) {
        report.turns[m_turn].leftOut = true;
        return noteStep(report, true);
    }
    stepOptimizer(report);
    if (report.skippedSteps == skippedBefore)
        measureUpdate();
}

void Trainer::Impl::noteStep(StepReport& report, bool skipped)
{
    ++m_turnSums[m_turn].steps;
    report.skipped = report.skipped || skipped;
    if (!skipped)
        return;
    ++report.skippedSteps;
    if (optimizesManually())
        ++report.turns[m_turn].skipped;
}

/// While the gradients of the turn are there.
void Trainer::Impl::measureUpdate()
{
    if (m_measures)
        add(m_tally, m_turns[m_turn].meter.measure(optimizer().parameters()));
}

void Trainer::Impl::addUpTurns(StepReport& report)
{
    if (!optimizesManually())
        return;
    std::vector<double> sums;
    for (const auto& turn : m_turnSums)
        sums.insert(sums.end(), {turn.loss, turn.gradientSquares});
    if (m_communicator.size() > 1)
        m_communicator.allReduce(sums.data(), sums.size(), WireType::F64, ReduceOp::Sum);
    const double holders = m_strategy->holdsParts() ? m_strategy->holders() : m_communicator.size();
    for (std::size_t i = 0; i < m_turnSums.size(); ++i) {
        const auto passes = static_cast<double>(m_turnSums[i].passes) * m_communicator.size();
        const auto steps = static_cast<double>(std::max<std::int64_t>(1, m_turnSums[i].steps));
        report.turns[i].loss = sums[2 * i] / passes;
        report.turns[i].gradNorm = std::sqrt(sums[2 * i + 1] / holders / steps);
    }
}

} // namespace mantissa
