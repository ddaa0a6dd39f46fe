#include "engine/strategy/fsdp.h"

#include "engine/strategy/wire_type.h"

#include <algorithm>

namespace mantissa {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The pointer travels in the context: LibTorch may run a node on another thread, so no thread-local will do.
void remember(AutogradContext* context, FsdpStrategy* strategy, int unit)
{
    context->saved_data["strategy"] = reinterpret_cast<std::int64_t>(strategy);
    context->saved_data["unit"] = static_cast<std::int64_t>(unit);
}

FsdpStrategy& strategyOf(AutogradContext* context)
{
    return *reinterpret_cast<FsdpStrategy*>(context->saved_data["strategy"].toInt());
}

int unitOf(AutogradContext* context)
{
    return static_cast<int>(context->saved_data["unit"].toInt());
}

/// Forward: the shard becomes whole weights. Backward: their gradients go to the shards.
struct Gather : torch::autograd::Function<Gather> {
    static variable_list forward(AutogradContext* context, const at::Tensor&, FsdpStrategy* strategy,
                                 int unit)
    {
        remember(context, strategy, unit);
        context->set_materialize_grads(false); // weights that were not used come back undefined, not as zeros
        return strategy->open(unit);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        strategyOf(context).close(unitOf(context), std::move(gradients));
        return {at::Tensor(), at::Tensor(), at::Tensor()}; // the shard's gradient is kept by its unit
    }
};

/// On a unit's output. Forward: nothing. Backward: the unit is about to need its weights.
struct Leave : torch::autograd::Function<Leave> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& output, FsdpStrategy* strategy,
                              int unit)
    {
        remember(context, strategy, unit);
        return output.view_as(output);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        strategyOf(context).reopen(unitOf(context));
        return {gradients[0], at::Tensor(), at::Tensor()};
    }
};

} // namespace

FsdpStrategy::FsdpStrategy(const Model& model, const std::vector<at::Tensor>& weights, FlatDtypes dtypes,
                           Communicator& communicator)
    : Strategy(model.parameters()),
      m_communicator(communicator),
      m_outputs(static_cast<std::size_t>(model.unitCount())),
      m_outputsWithGraph(static_cast<std::size_t>(model.unitCount()))
{
    std::vector<std::vector<at::Tensor>> ofUnit(m_outputs.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto& spec = model.parameters()[i];
        auto& unit = ofUnit[static_cast<std::size_t>(spec.unit)];
        m_places.push_back({spec.unit, unit.size()});
        unit.push_back(weights[i]);
    }
    for (const auto& unit : ofUnit)
        m_units.emplace_back(communicator, m_meter, dtypes, unit);
    m_meter = {}; // making the buffers does not count
    for (auto& unit : m_units)
        m_meter.add(unit.shard().nbytes());
    m_keepsRoot = rootIsCheapToKeep();
    makePieces();
}

bool FsdpStrategy::rootIsCheapToKeep() const
{
    std::uint64_t shards = m_meter.peak();
    std::uint64_t largestOther = 0;
    for (std::size_t i = 0; i + 1 < m_units.size(); ++i)
        largestOther = std::max(largestOther, m_units[i].wholeBytes());
    const std::uint64_t root = m_units.back().wholeBytes();
    // A rank's parameters are to stay within 1.15 × (its shards + the largest unit); the rest is left for
    // padding.
    return shards + root + largestOther <= (shards + std::max(root, largestOther)) * 114 / 100;
}

void FsdpStrategy::makePieces()
{
    for (const auto& place : m_places) {
        auto& unit = at(place.unit);
        m_parameters.push_back(unit.piece(unit.shard(), place.weight).set_requires_grad(true));
        m_gradients.push_back(unit.piece(unit.gradient(), place.weight));
    }
}

std::vector<at::Tensor> FsdpStrategy::enter(int unit)
{
    const auto index = static_cast<std::size_t>(unit);
    if (unit != rootIndex() && !m_outputs.back().empty()) {
        m_rootFirst = true;
        if (!m_keepsRoot)
            root().release();
    }
    const bool withGraph = at::GradMode::is_enabled();
    if (!m_outputs[index].empty() && m_outputsWithGraph[index] == withGraph) {
        at(unit).materialize();
        return m_outputs[index];
    }
    // Applied just before the unit's forward, never earlier: then its backward runs before the unit below is
    // gathered again.
    m_outputs[index] = Gather::apply(at(unit).shard(), this, unit);
    m_outputsWithGraph[index] = withGraph;
    return m_outputs[index];
}

at::Tensor FsdpStrategy::leave(int unit, const at::Tensor& output)
{
    const at::Tensor left = Leave::apply(output, this, unit);
    if (unit == rootIndex())
        return left; // its backward comes at once
    at(unit).release();
    if (unit == rootIndex() - 1 && rootWaits())
        root().materialize();
    return left;
}

std::vector<at::Tensor> FsdpStrategy::open(int unit)
{
    at(unit).materialize();
    return at(unit).aliases();
}

void FsdpStrategy::reopen(int unit)
{
    if (unit == rootIndex() - 1 && rootWaits())
        root().release(); // whatever it did above the other units is through
    at(unit).materialize();
}

void FsdpStrategy::close(int unit, std::vector<at::Tensor>&& gradients)
{
    at(unit).release();
    at(unit).takeGradients(std::move(gradients), m_sync);
    if (unit == 0 && rootIndex() != 0 && rootWaits())
        root().materialize(); // for what it did below them
}

void FsdpStrategy::endOfBackward()
{
    // Units without a gradient, because nothing of theirs reached the loss, never came to close().
    for (auto& unit : m_units)
        unit.release();
    forgetOutputs();
}

void FsdpStrategy::forgetOutputs()
{
    for (auto& outputs : m_outputs)
        outputs.clear();
    m_rootFirst = false;
}

std::int64_t FsdpStrategy::takeNonfiniteBefore()
{
    std::int64_t count = 0;
    for (auto& unit : m_units)
        count += unit.takeNonfinite();
    return count;
}

void FsdpStrategy::reduceGradients()
{
    for (auto& unit : m_units)
        unit.reduceLeftover();
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        m_parameters[i].mutable_grad() = at(m_places[i].unit).hasGradient() ? m_gradients[i] : at::Tensor();
}

void FsdpStrategy::zeroGradients()
{
    for (auto& unit : m_units)
        unit.zeroGradient();
    for (auto& parameter : m_parameters)
        parameter.mutable_grad().reset();
}

void FsdpStrategy::endOfStep()
{
    // The optimizer has changed the shards: what is still gathered is stale.
    for (auto& unit : m_units)
        unit.release();
    forgetOutputs();
}

double FsdpStrategy::over(double part, ReduceOp op)
{
    m_communicator.allReduce(&part, 1, WireType::F64, op);
    return part;
}

NamedTensors FsdpStrategy::fullParameters(bool wanted)
{
    return fullState(m_parameters, wanted);
}

NamedTensors FsdpStrategy::fullState(const std::vector<at::Tensor>& perParameter, bool wanted)
{
    const at::NoGradGuard noGrad;
    NamedTensors whole;
    for (std::size_t i = 0; wanted && i < perParameter.size(); ++i)
        whole.emplace_back(parameterNames()[i], at::Tensor());
    // One unit after the other, so that no more than one is whole at a time.
    for (int unit = 0; unit <= rootIndex(); ++unit) {
        const at::Tensor gathered = gatherFlat(shardOf(unit, perParameter), m_communicator);
        for (std::size_t i = 0; wanted && i < m_places.size(); ++i) {
            if (m_places[i].unit == unit && perParameter[i].defined())
                whole[i].second = at(unit).whole(gathered, m_places[i].weight).clone();
        }
    }
    std::erase_if(whole, [](const auto& entry) { return !entry.second.defined(); });
    return whole;
}

at::Tensor FsdpStrategy::partOf(const at::Tensor& whole, std::size_t index) const
{
    const auto& place = m_places[index];
    return m_units[static_cast<std::size_t>(place.unit)].cut(whole, place.weight);
}

at::Tensor FsdpStrategy::shardOf(int unit, const std::vector<at::Tensor>& perParameter)
{
    at::Tensor shard;
    for (std::size_t i = 0; i < m_places.size(); ++i) {
        if (m_places[i].unit != unit || !perParameter[i].defined())
            continue;
        if (!shard.defined())
            shard = at::zeros({at(unit).shardLength()}, perParameter[i].scalar_type());
        at(unit).piece(shard, m_places[i].weight).copy_(perParameter[i].detach());
    }
    return shard.defined() ? shard : at::zeros({at(unit).shardLength()});
}

int FsdpStrategy::gathers() const
{
    int count = 0;
    for (const auto& unit : m_units)
        count += unit.gathers();
    return count;
}

int FsdpStrategy::reductions() const
{
    int count = 0;
    for (const auto& unit : m_units)
        count += unit.reductions();
    return count;
}

} // namespace mantissa
