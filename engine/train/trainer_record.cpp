#include "engine/train/trainer_impl.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace mantissa {

void Trainer::Impl::addUpRanks(UpdateTally& tally)
{
    if (m_communicator.size() == 1)
        return;
    // One collective for all of them. Whole gradients and weights are the same on every rank: only shards are
    // added up.
    std::array<double, 12> sums = {
        m_sums.loss,          m_sums.correct,         m_sums.answers,        m_sums.rows,
        m_sums.scaledSquares, m_sums.gradientSquares, m_sums.clippedSquares, tally.parameterSquares,
        tally.changeSquares,  tally.driven,           tally.stalled,         m_sums.parameterSquares,
    };
    constexpr std::size_t kOfEveryRank = 4;
    m_communicator.allReduce(sums.data(), isSharded() ? sums.size() : kOfEveryRank, WireType::F64,
                             ReduceOp::Sum);
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
    report.accuracy = m_sums.answers > 0.0 ? m_sums.correct / m_sums.answers : 0.0;
    report.samples = static_cast<std::int64_t>(m_sums.rows);
    report.gradNorm = std::sqrt(m_sums.gradientSquares);
    if (m_plan.clip.kind != ClipKind::None)
        report.gradNormClipped = std::sqrt(m_sums.clippedSquares);
    if (m_precision->scaler())
        report.gradNormScaled = std::sqrt(m_sums.scaledSquares);
    if (measuresParameters())
        report.paramNorm = std::sqrt(m_sums.parameterSquares);
    if (report.skipped)
        return;
    report.updateRatio =
        tally.parameterSquares > 0.0 ? std::sqrt(tally.changeSquares / tally.parameterSquares) : 0.0;
    report.stalledShare = tally.driven > 0.0 ? tally.stalled / tally.driven : 0.0;
}

TrainerState Trainer::Impl::state()
{
    const bool wanted = m_communicator.rank() == 0;
    TrainerState state;
    const auto keep = [&](const std::string& prefix,
                          std::vector<std::pair<std::string, at::Tensor>> tensors) {
        for (auto& [name, tensor] : tensors)
            state.tensors.emplace_back(prefix + name, std::move(tensor));
    };
    keep("model.", m_strategy->fullParameters(wanted));
    if (wanted)
        keep("buffer.", m_model->buffers());
    if (m_optimizer->hasState()) {
        for (const auto& [name, tensors] : m_optimizer->state())
            keep("optimizer." + name + ".", m_strategy->fullState(tensors, wanted));
    }
    keepGenerators(state, wanted);
    if (wanted)
        state.json = positionJson();
    return state;
}

void Trainer::Impl::keepGenerators(TrainerState& state, bool wanted)
{
    const at::Tensor mine = m_model->generatorState();
    if (!mine.defined())
        return;
    const at::Tensor all = at::empty({m_communicator.size(), mine.numel()}, mine.options());
    m_communicator.allGather(mine.contiguous().const_data_ptr(), all.mutable_data_ptr(), mine.nbytes(),
                             WireType::U8);
    for (int rank = 0; wanted && rank < m_communicator.size(); ++rank)
        state.tensors.emplace_back("rng." + std::to_string(rank), all[rank].clone());
}

std::string Trainer::Impl::positionJson() const
{
    return nlohmann::json{
        {"step", m_step},
        {"epoch", m_epoch},
        {"batch", m_batch},
        {"global_batch", m_globalBatch},
        {"ranks", m_communicator.size()},
        {"seed", m_plan.seed},
        {"optimizer", {{"class", m_optimizer->className()}, {"steps", m_optimizer->stepCount()}}},
        {"schedule", {{"advances", m_schedule.advances()}, {"rate", m_schedule.rate()}}},
        {"scaler", nlohmann::json::parse(m_precision->stateDict())},
    }
        .dump();
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
