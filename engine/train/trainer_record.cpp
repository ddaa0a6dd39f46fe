#include "engine/recipe/scalar.h"
#include "engine/train/trainer_impl.h"

#include <array>
#include <cmath>
#include <numeric>

namespace mantissa {

void Trainer::Impl::addUpRanks(UpdateTally& tally)
{
    if (m_communicator.size() == 1)
        return;
    // One collective for all of them. Whole gradients and weights are the same on every rank: only parts are
    // added up, each once.
    const bool parts = m_strategy->holdsParts();
    std::array<double, 12> sums = {
        m_sums.loss,          m_sums.correct,         m_sums.answers,        m_sums.rows,
        m_sums.scaledSquares, m_sums.gradientSquares, m_sums.clippedSquares, tally.parameterSquares,
        tally.changeSquares,  tally.driven,           tally.stalled,         m_sums.parameterSquares,
    };
    constexpr std::size_t kOfEveryRank = 4;
    for (std::size_t i = kOfEveryRank; parts && i < sums.size(); ++i)
        sums[i] /= m_strategy->holders();
    m_communicator.allReduce(sums.data(), parts ? sums.size() : kOfEveryRank, WireType::F64, ReduceOp::Sum);
    m_sums = {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[11]};
    tally.parameterSquares = sums[7];
    tally.changeSquares = sums[8];
    tally.driven = sums[9];
    tally.stalled = sums[10];
}

void Trainer::Impl::fillReport(StepReport& report, const UpdateTally& tally) const
{
    const auto batches = static_cast<double>(report.losses.size()) * m_communicator.size();
    report.loss = m_sums.loss / batches;
    if (optimizesManually())
        report.loss = std::accumulate(report.turns.begin(), report.turns.end(), 0.0,
                                      [](double sum, const TurnReport& turn) { return sum + turn.loss; });
    report.accuracy = m_sums.answers > 0.0 ? m_sums.correct / m_sums.answers : 0.0;
    report.samples = static_cast<std::int64_t>(m_sums.rows);
    report.gradNorm = std::sqrt(m_sums.gradientSquares);
    if (m_plan.clip.kind != ClipKind::None)
        report.gradNormClipped = std::sqrt(m_sums.clippedSquares);
    if (m_precision->scaler())
        report.gradNormScaled = std::sqrt(m_sums.scaledSquares);
    if (measuresParameters())
        report.paramNorm = std::sqrt(m_sums.parameterSquares);
    if (report.skipped && report.skippedSteps >= stepsOf(m_turnSums))
        return;
    report.updateRatio =
        tally.parameterSquares > 0.0 ? std::sqrt(tally.changeSquares / tally.parameterSquares) : 0.0;
    report.stalledShare = tally.driven > 0.0 ? tally.stalled / tally.driven : 0.0;
}

void Trainer::Impl::closeFp8(StepReport& report)
{
    if (!m_precision->fp8())
        return;
    const Fp8Losses losses = m_precision->fp8()->closeStep();
    for (std::size_t role = 0; role < kFp8Roles.size(); ++role) {
        log(kFp8Saturated[role], losses.of[role].saturated);
        log(kFp8Flushed[role], losses.of[role].flushed);
    }
    if (losses.mostCut.empty() || m_communicator.rank() != 0 || std::exchange(m_saidCut, true))
        return;
    report.notes.push_back({"fp8_saturated", Stage::Backward,
                            "Gradients saturate in the emulated e5m2: " + numberText(losses.cut)
                                + " elements at the output of " + losses.mostCut
                                + " were beyond its largest number and were cut to it. It is said once; the "
                                  "series fp8_saturated_gradient has every step.",
                            losses.mostCut});
}

Trainer::Trainer(std::shared_ptr<PreparedRun> prepared, Communicator& communicator, TrainerSeams seams)
    : m_impl(std::make_unique<Impl>(std::move(prepared), communicator, seams))
{
}

Trainer::~Trainer() = default;

bool Trainer::finished() const
{
    return m_impl->finished();
}

StepReport Trainer::step(std::stop_token stop)
{
    return m_impl->step(stop);
}

TrainerPlace Trainer::place() const
{
    return m_impl->place();
}

TrainerState Trainer::state()
{
    return m_impl->state();
}

Strategy& Trainer::strategy()
{
    return m_impl->strategy();
}

Model& Trainer::model()
{
    return m_impl->model();
}

} // namespace mantissa
