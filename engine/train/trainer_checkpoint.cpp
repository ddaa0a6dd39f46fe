#include "engine/core/counted.h"
#include "engine/train/session_environment.h"
#include "engine/train/trainer_impl.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace mantissa {
namespace {

using nlohmann::json;
using namespace state_name;

void put(TrainerState& state, const std::string& prefix, const NamedTensors& tensors)
{
    for (const auto& [name, tensor] : tensors)
        state.tensors.emplace_back(prefix + name, tensor);
}

/// Stored tensors whose names begin so, by the rest of their names.
NamedTensors under(const NamedTensors& all, const std::string& prefix)
{
    NamedTensors found;
    for (const auto& [name, tensor] : all)
        if (name.starts_with(prefix))
            found.emplace_back(name.substr(prefix.size()), tensor);
    return found;
}

/// Adam and AdamW differ in what they do with the same state.
bool sharesState(const std::string& a, const std::string& b)
{
    const auto isAdam = [](const std::string& name) { return name == "Adam" || name == "AdamW"; };
    const auto isPacked = [](const std::string& name) { return name == "Adam8bit" || name == "AdamW8bit"; };
    return a == b || (isAdam(a) && isAdam(b)) || (isPacked(a) && isPacked(b));
}

} // namespace

TrainerState Trainer::Impl::state()
{
    const bool first = m_communicator.rank() == 0;
    TrainerState state;
    if (m_plan.checkpoints.sharded)
        keepParts(state);
    else
        keepWhole(state, first);
    if (first && m_precision->fp8())
        put(state, kFp8, m_precision->fp8()->state());
    if (first)
        for (const auto& [name, buffer] : m_model->buffers())
            state.tensors.emplace_back(kBuffer + name, buffer.clone());
    for (const auto& [callback, kept] : m_callbacks.stateDict()) {
        if (first)
            put(state, kCallbackOwn + callback + '.', kept.own);
        if (keepsOwnBuffers()) // Averages of statistics that are each rank's own.
            for (const auto& [name, tensor] : kept.own)
                keepOfEachRank(state, kRankCallback + callback + '.' + name + '.', tensor);
    }
    if (keepsOwnBuffers()) // Their running statistics are each rank's own.
        for (const auto& [name, buffer] : m_model->buffers())
            keepOfEachRank(state, kRankBuffer + name + '.', buffer);
    if (const at::Tensor generator = m_model->generatorState(); generator.defined())
        keepOfEachRank(state, kGenerator, generator);
    if (first)
        state.json = positionText(position());
    return state;
}

void Trainer::Impl::keepWhole(TrainerState& state, bool wanted)
{
    put(state, kWeight, m_strategy->fullParameters(wanted));
    for (const auto& [name, tensors] : optimizerState())
        put(state, kOptimizer + name + '.', m_strategy->fullState(tensors, wanted));
    for (const auto& [callback, kept] : m_callbacks.stateDict())
        for (const auto& [name, tensors] : kept.tensors)
            put(state, kCallback + callback + '.' + name + '.', m_strategy->fullState(tensors, wanted));
}

void Trainer::Impl::keepParts(TrainerState& state) const
{
    // Of ranks that hold the same, the first group writes it.
    const bool writes = m_communicator.rank() < m_communicator.size() / m_strategy->holders();
    const auto keepAll = [&](const std::string& prefix, const std::vector<at::Tensor>& pieces) {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if (!pieces[i].defined())
                continue;
            const auto& weight = m_model->parameters()[i];
            state.shapes[prefix + weight.name] = weight.shape;
            if (writes && pieces[i].numel() > 0)
                state.tensors.emplace_back(prefix + weight.name, pieces[i].detach().flatten().clone());
        }
    };
    keepAll(kWeight, m_strategy->parameters());
    for (const auto& [name, tensors] : optimizerState())
        keepAll(kOptimizer + name + '.', tensors);
    for (const auto& [callback, kept] : m_callbacks.stateDict())
        for (const auto& [name, tensors] : kept.tensors)
            keepAll(kCallback + callback + '.' + name + '.', tensors);
}

/// Something that each rank has for itself goes into the state of rank 0.
void Trainer::Impl::keepOfEachRank(TrainerState& state, const std::string& prefix, const at::Tensor& mine)
{
    const at::Tensor flat = mine.detach().contiguous();
    std::vector<std::int64_t> shape = flat.sizes().vec();
    shape.insert(shape.begin(), m_communicator.size());
    const at::Tensor all = at::empty(shape, flat.options());
    m_communicator.allGather(flat.const_data_ptr(), all.mutable_data_ptr(), flat.nbytes(), WireType::U8);
    for (int rank = 0; m_communicator.rank() == 0 && rank < m_communicator.size(); ++rank)
        state.tensors.emplace_back(prefix + std::to_string(rank), all[rank].clone());
}

TrainingPosition Trainer::Impl::position() const
{
    const auto settings = json::parse(effectiveSettings(m_plan));
    TrainingPosition position;
    position.step = m_step;
    position.epoch = m_epoch;
    position.batch = m_batch;
    position.globalBatch = m_globalBatch;
    position.ranks = m_communicator.size();
    position.seed = m_plan.seed;
    position.samples = m_prepared->data.samples;
    position.jointBatch = m_prepared->data.jointBatch;
    position.precision = precisionId(m_plan.precision);
    position.strategy = settings.at("strategy").get<std::string>();
    position.optimizerClass = m_turns.front().optimizer->className();
    position.optimizerSteps = m_turns.front().optimizer->stepCount();
    position.optimizerSettings = settings.at("optimizer").dump();
    position.scheduleSettings = settings.at("schedule").dump();
    position.optimizerState = m_turns.front().optimizer->stateDict();
    for (std::size_t i = 1; i < m_turns.size(); ++i)
        position.furtherOptimizers.push_back(m_turns[i].optimizer->stateDict());
    position.scheduleState = m_schedule.stateDict();
    position.scalerState = m_precision->stateDict();
    auto callbacks = json::object();
    for (const auto& [name, kept] : m_callbacks.stateDict())
        callbacks[name] = json::parse(kept.json);
    position.callbacks = callbacks.dump();
    return position;
}

void Trainer::Impl::restore(const StoredTraining& from)
{
    restorePlace(from.position);
    restoreOptimizer(from);
    restoreSchedule(from.position);
    restoreScaler(from.position);
    restoreFp8(from);
    restoreOfThisRank(from);
    restoreCallbacks(from);
    const auto now = position();
    const auto& then = from.position;
    if (now.precision != then.precision)
        notCarried("Until here the run was trained in " + then.precision + ", from here on in "
                   + now.precision + ".");
    if (now.strategy != then.strategy || now.ranks != then.ranks)
        notCarried("Until here the run was trained with " + then.strategy + " on "
                   + counted(then.ranks, "rank") + ", from here on with " + now.strategy + " on "
                   + std::to_string(now.ranks) + ": sums are rounded in another order.");
}

/// What comes from the same samples in the same order goes on at the same batch; else as many rows are left
/// out as were seen.
void Trainer::Impl::restorePlace(const TrainingPosition& from)
{
    const auto& data = m_prepared->data;
    m_step = from.step;
    m_epoch = from.epoch;
    m_batch = from.batch;
    m_globalBatch = from.globalBatch;
    if (from.jointBatch != data.jointBatch) {
        m_batch = from.batch * from.jointBatch / data.jointBatch;
        notCarried("The ranks take " + counted(data.jointBatch, "row") + " together, and took "
                   + std::to_string(from.jointBatch) + ": the epoch goes on after as many rows as it had.");
    }
    if (m_batch >= m_prepared->loader->batchesPerEpoch()) {
        m_batch = 0;
        ++m_epoch;
    }
    if (from.samples != data.samples || from.seed != m_plan.seed)
        notCarried("The samples come in another order: the data or the seed is another.");
    m_prepared->loader->seek(m_communicator.rank(), {m_epoch, m_batch});
}

/// By name, in the order of the strategy's parameters, whichever optimizer has them.
OptimizerState Trainer::Impl::optimizerState() const
{
    OptimizerState all;
    for (const auto& turn : m_turns) {
        if (!turn.optimizer->hasState())
            continue;
        for (const auto& [name, tensors] : turn.optimizer->state()) {
            auto found = std::find_if(all.begin(), all.end(),
                                      [&name = name](const auto& state) { return state.first == name; });
            if (found == all.end())
                found =
                    all.insert(all.end(), {name, std::vector<at::Tensor>(m_strategy->parameters().size())});
            for (std::size_t i = 0; i < tensors.size(); ++i)
                found->second[turn.members[i]] = tensors[i];
        }
    }
    return all;
}

void Trainer::Impl::restoreOptimizer(const StoredTraining& from)
{
    const std::string& before = from.position.optimizerClass;
    if (!sharesState(before, optimizer().className())) {
        notCarried("What " + before + " had gathered is of no use to " + optimizer().className()
                   + ", which begins anew.");
        return;
    }
    for (std::size_t i = 0; i < m_turns.size(); ++i) {
        const auto& further = from.position.furtherOptimizers;
        if (i == 0)
            m_turns[i].optimizer->loadStateDict(from.position.optimizerState);
        else if (i <= further.size())
            m_turns[i].optimizer->loadStateDict(further[i - 1]);
        restoreTensors(from, m_turns[i]);
    }
}

void Trainer::Impl::restoreTensors(const StoredTraining& from, Turn& turn)
{
    for (const auto& name : turn.optimizer->stateNames()) {
        const auto whole = under(from.states, kOptimizer + name + '.');
        const auto all = m_strategy->partsOf(whole);
        std::vector<at::Tensor> parts;
        for (const std::size_t member : turn.members)
            parts.push_back(all[member]);
        const bool complete =
            std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.defined(); });
        if (complete)
            turn.optimizer->restore(name, parts);
        else if (turn.optimizer->stepCount() > 0.0)
            notCarried("The checkpoint has no " + name + " of every weight: it begins at zero.");
    }
}

void Trainer::Impl::restoreSchedule(const TrainingPosition& from)
{
    const auto state = json::parse(from.scheduleState);
    const auto advances = state.at("advances").get<std::int64_t>();
    const auto now = position();
    if (now.scheduleSettings == from.scheduleSettings && now.optimizerSettings == from.optimizerSettings) {
        m_schedule.loadStateDict(from.scheduleState);
        return;
    }
    for (std::int64_t i = 0; i < advances; ++i)
        m_schedule.advance();
    if (now.scheduleSettings != from.scheduleSettings)
        notCarried("The schedule is another: it goes on where it would be by now.");
}

/// Scale and tracker go on; growth and backoff are those of the set-up.
void Trainer::Impl::restoreScaler(const TrainingPosition& from)
{
    const auto before = json::parse(from.scalerState);
    if (!m_precision->scaler()) {
        if (!before.empty())
            notCarried("The loss scale is left behind: this precision has none.");
        return;
    }
    if (before.empty()) {
        notCarried("The loss scale begins anew: there was none before.");
        return;
    }
    auto state = json::parse(m_precision->stateDict());
    for (const char* name : {"scale", "_growth_tracker"})
        state[name] = before.at(name);
    m_precision->loadStateDict(state.dump());
}

void Trainer::Impl::restoreFp8(const StoredTraining& from)
{
    if (!m_precision->fp8())
        return;
    const auto scales = under(from.states, kFp8);
    if (scales.empty())
        notCarried("The fp8 scales begin at 1: there were none before.");
    else
        m_precision->fp8()->restore(scales);
}

void Trainer::Impl::restoreOfThisRank(const StoredTraining& from)
{
    const std::string rank = std::to_string(m_communicator.rank());
    if (const at::Tensor now = m_model->generatorState(); now.defined()) {
        const at::Tensor stored = tensorNamed(from.states, kGenerator + rank);
        const bool fits =
            stored.defined() && stored.sizes() == now.sizes() && stored.scalar_type() == now.scalar_type();
        if (fits && from.position.ranks == m_communicator.size())
            m_model->setGeneratorState(stored);
        else
            notCarried("Dropout draws anew: the checkpoint has the random generators of "
                       + counted(from.position.ranks, "rank") + ".");
    }
    if (!keepsOwnBuffers() || from.position.ranks != m_communicator.size())
        return;
    const at::NoGradGuard noGrad;
    for (auto& [name, buffer] : m_model->buffers()) {
        const at::Tensor stored = tensorNamed(from.states, kRankBuffer + name + '.' + rank);
        if (stored.defined() && stored.sizes() == buffer.sizes())
            at::Tensor(buffer).copy_(stored);
    }
}

/// Callbacks take theirs once they are set up: see begin().
void Trainer::Impl::restoreCallbacks(const StoredTraining& from)
{
    const auto callbacks = json::parse(from.position.callbacks);
    const bool ownBuffers = keepsOwnBuffers() && from.position.ranks == m_communicator.size();
    const std::string rank = std::to_string(m_communicator.rank());
    for (const auto& [name, kept] : callbacks.items()) {
        CallbackState state{kept.dump(), {}, under(from.states, kCallbackOwn + name + '.')};
        for (auto& [tensor, value] : state.own) {
            const at::Tensor mine =
                tensorNamed(from.states, kRankCallback + name + '.' + tensor + '.' + rank);
            if (ownBuffers && mine.defined())
                value = mine;
        }
        std::map<std::string, NamedTensors> byName; // "average", of every weight
        for (const auto& [key, tensor] : under(from.states, kCallback + name + '.')) {
            const auto dot = std::min(key.find('.'), key.size());
            byName[key.substr(0, dot)].emplace_back(key.substr(std::min(dot + 1, key.size())), tensor);
        }
        for (const auto& [tensors, whole] : byName)
            state.tensors.emplace_back(tensors, m_strategy->partsOf(whole));
        m_storedCallbacks.emplace_back(name, std::move(state));
    }
}

/// Rank 0 says it for all.
void Trainer::Impl::notCarried(std::string message)
{
    if (m_communicator.rank() == 0)
        m_notCarried.push_back({"not_carried", Stage::Setup, std::move(message)});
}

} // namespace mantissa
