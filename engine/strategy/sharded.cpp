#include "engine/strategy/sharded.h"

#include "engine/strategy/wire_type.h"

#include <algorithm>

namespace mantissa {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The pointer travels in the context: LibTorch may run a node on another thread, so no thread-local will do.
void remember(AutogradContext* context, ShardedStrategy* strategy, int unit)
{
    context->saved_data["strategy"] = reinterpret_cast<std::int64_t>(strategy);
    context->saved_data["unit"] = static_cast<std::int64_t>(unit);
}

ShardedStrategy& strategyOf(AutogradContext* context)
{
    return *reinterpret_cast<ShardedStrategy*>(context->saved_data["strategy"].toInt());
}

int unitOf(AutogradContext* context)
{
    return static_cast<int>(context->saved_data["unit"].toInt());
}

/// Forward: the shard becomes whole weights. Backward: their gradients go to the shards.
struct Gather : torch::autograd::Function<Gather> {
    static variable_list forward(AutogradContext* context, const at::Tensor&, ShardedStrategy* strategy,
                                 int unit)
    {
        remember(context, strategy, unit);
        context->set_materialize_grads(false); // weights that were not used come back undefined, not as zeros
        variable_list weights = strategy->open(unit);
        variable_list frozen;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (strategy->unit(unit).frozen(i))
                frozen.push_back(weights[i]);
        }
        context->mark_non_differentiable(frozen);
        return weights;
    }
    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        strategyOf(context).close(unitOf(context), std::move(gradients));
        return {at::Tensor(), at::Tensor(), at::Tensor()}; // the shard's gradient is kept by its unit
    }
};

/// On a unit's output. Forward: nothing. Backward: the unit is about to need its weights.
struct Leave : torch::autograd::Function<Leave> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& output, ShardedStrategy* strategy,
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

/// On the input of a frozen unit, which has no gradients to end with. Backward: the unit is through.
struct Arrive : torch::autograd::Function<Arrive> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input, ShardedStrategy* strategy,
                              int unit)
    {
        remember(context, strategy, unit);
        return input.view_as(input);
    }
    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        strategyOf(context).closeFrozen(unitOf(context));
        return {gradients[0], at::Tensor(), at::Tensor()};
    }
};

Sharding shardingOf(const ShardOptions& options)
{
    return options.stateOnly ? Sharding::GradOp : options.plan.sharding;
}

} // namespace

ShardedStrategy::ShardedStrategy(const Model& model, const WeightSource& weights, ShardOptions options,
                                 Communicator& communicator)
    : Strategy(model.parameters()),
      m_options(std::move(options)),
      m_communicator(communicator),
      m_groups(communicator, shardingOf(m_options), m_options.plan.replicas)
{
    const Sharding sharding = shardingOf(m_options);
    m_reshards = (sharding == Sharding::Full || sharding == Sharding::Hybrid) && m_groups.shards() > 1;
    makeUnits(model);
    fillUnits(weights);
    makePieces();
    std::vector<std::uint64_t> wholes;
    for (const auto& unit : m_units)
        wholes.push_back(unit.wholeBytes());
    m_keepsRoot = !m_reshards || mantissa::keepsRoot(wholes, m_meter.kept.alive());
    m_given.resize(m_units.size());
}

void ShardedStrategy::makeUnits(const Model& model)
{
    const auto& specs = model.parameters();
    const auto blocks = static_cast<std::size_t>(model.unitCount());
    std::vector<std::int64_t> elements(blocks, 0);
    for (const auto& spec : specs)
        elements[static_cast<std::size_t>(spec.unit)] += c10::multiply_integers(spec.shape);
    m_unitOf = unitsOfBlocks(elements, m_options.plan);
    m_weightsOf.resize(blocks);
    std::vector<std::vector<FlatWeight>> ofUnit(static_cast<std::size_t>(m_unitOf.back()) + 1);
    for (const auto& spec : specs) {
        auto& unit = ofUnit[static_cast<std::size_t>(unitOf(spec.unit))];
        m_places.push_back({unitOf(spec.unit), unit.size()});
        m_weightsOf[static_cast<std::size_t>(spec.unit)].push_back(unit.size());
        unit.push_back({spec.shape, isFrozen(spec.name, m_options.frozen)});
    }
    for (auto& unit : ofUnit)
        m_units.emplace_back(m_groups, m_meter, m_options.dtypes, std::move(unit), m_options.stateOnly);
}

// One weight after the other, so that a model is never whole on a rank that could not hold it.
void ShardedStrategy::fillUnits(const WeightSource& weights)
{
    for (std::size_t i = 0; i < m_places.size(); ++i)
        at(m_places[i].unit).fill(m_places[i].weight, weights(i));
}

void ShardedStrategy::makePieces()
{
    for (const auto& place : m_places) {
        auto& unit = at(place.unit);
        const bool trained = !unit.frozen(place.weight);
        m_parameters.push_back(unit.piece(unit.shard(), place.weight).set_requires_grad(trained));
        m_gradients.push_back(trained ? unit.piece(unit.gradient(), place.weight) : at::Tensor());
    }
}

std::vector<at::Tensor> ShardedStrategy::enter(int block)
{
    const int unit = unitOf(block);
    auto& given = m_given[static_cast<std::size_t>(unit)];
    noteEntry(unit);
    const bool withGraph = at::GradMode::is_enabled();
    if (given.weights.empty() || given.withGraph != withGraph) {
        // Applied just before the unit's forward, never earlier: then its backward runs before the unit below
        // is gathered again.
        given.weights = Gather::apply(at(unit).shard(), this, unit);
        given.withGraph = withGraph;
    } else {
        at(unit).materialize();
    }
    if (m_options.plan.forwardAhead && !m_backward)
        gatherAhead(unit, +1);
    std::vector<at::Tensor> weights;
    for (const std::size_t weight : m_weightsOf[static_cast<std::size_t>(block)])
        weights.push_back(given.weights[weight]);
    return weights;
}

void ShardedStrategy::noteEntry(int unit)
{
    if (unit == rootIndex())
        return;
    if (std::find(m_orderNow.begin(), m_orderNow.end(), unit) == m_orderNow.end())
        m_orderNow.push_back(unit);
    if (m_given.back().weights.empty())
        return;
    m_rootFirst = true;
    if (!m_keepsRoot)
        root().release();
}

/// Gathers the unit that comes next in that direction, or all of them.
void ShardedStrategy::gatherAhead(int unit, int direction)
{
    const auto& order = m_order.empty() ? m_orderNow : m_order;
    const auto found = std::find(order.begin(), order.end(), unit);
    if (!m_reshards || found == order.end())
        return;
    for (auto at = found - order.begin() + direction;
         at >= 0 && at < static_cast<std::ptrdiff_t>(order.size()); at += direction) {
        m_units[static_cast<std::size_t>(order[static_cast<std::size_t>(at)])].materialize();
        if (m_options.plan.limitAhead)
            return;
    }
}

at::Tensor ShardedStrategy::leave(int block, const at::Tensor& output)
{
    const int unit = unitOf(block);
    const at::Tensor left = Leave::apply(output, this, unit);
    if (!m_reshards)
        return left;
    if (unit != rootIndex())
        at(unit).release();
    if (isLastBlock(block) && rootWaits())
        root().materialize();
    return left; // the root stays: its backward comes at once
}

at::Tensor ShardedStrategy::run(int block, const at::Tensor& input, const UnitBody& body)
{
    const int unit = unitOf(block);
    if (!m_reshards || unit == rootIndex() || !at(unit).frozen())
        return WeightAccess::run(block, input, body);
    const at::Tensor arrived = Arrive::apply(input, this, unit);
    const auto weights = enter(block);
    return leave(block, body(arrived, weights));
}

std::vector<at::Tensor> ShardedStrategy::open(int unit)
{
    at(unit).materialize();
    return at(unit).aliases();
}

void ShardedStrategy::reopen(int unit)
{
    m_backward = true;
    if (unit != rootIndex() && rootWaits())
        root().release(); // whatever it did above this unit is through
    at(unit).materialize();
    if (m_options.plan.ahead == GatherAhead::Pre)
        gatherAhead(unit, -1);
}

void ShardedStrategy::close(int unit, std::vector<at::Tensor>&& gradients)
{
    if (givesBack())
        at(unit).release();
    if (m_options.plan.ahead == GatherAhead::Post)
        gatherAhead(unit, -1);
    at(unit).takeGradients(std::move(gradients), m_sync);
    gatherRootBelow(unit);
}

void ShardedStrategy::closeFrozen(int unit)
{
    at(unit).release();
    gatherRootBelow(unit);
}

void ShardedStrategy::gatherRootBelow(int unit)
{
    if (!m_orderNow.empty() && unit == m_orderNow.front() && rootWaits())
        root().materialize();
}

void ShardedStrategy::endOfBackward()
{
    // Units without a gradient, because nothing of theirs reached the loss, never came to close().
    for (auto& unit : m_units) {
        if (givesBack())
            unit.release();
    }
    m_order = m_orderNow;
    forgetGiven();
}

void ShardedStrategy::forgetGiven()
{
    for (auto& given : m_given)
        given.weights.clear();
    m_orderNow.clear();
    m_rootFirst = false;
    m_backward = false;
}

NonfiniteTally ShardedStrategy::takeNonfiniteBefore()
{
    NonfiniteTally tally;
    for (std::size_t unit = 0; unit < m_units.size(); ++unit) {
        const NonfiniteTally here = m_units[unit].takeNonfinite();
        for (std::size_t i = 0; here.deepest && i < m_places.size(); ++i) {
            if (m_places[i].unit == static_cast<int>(unit) && m_places[i].weight == *here.deepest)
                tally.add(here.count, i);
        }
    }
    return tally;
}

void ShardedStrategy::reduceGradients()
{
    for (auto& unit : m_units)
        unit.reduceLeftover();
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        m_parameters[i].mutable_grad() = at(m_places[i].unit).hasGradient() ? m_gradients[i] : at::Tensor();
}

void ShardedStrategy::zeroGradients()
{
    for (auto& unit : m_units)
        unit.zeroGradient();
    for (auto& parameter : m_parameters)
        parameter.mutable_grad().reset();
}

void ShardedStrategy::endOfStep()
{
    // The optimizer has changed the shards: what is still gathered is stale.
    for (auto& unit : m_units)
        unit.markStale();
    for (auto& unit : m_units) {
        if (m_options.stateOnly)
            unit.materialize();
        else
            unit.release();
    }
    forgetGiven();
}

double ShardedStrategy::over(double part, ReduceOp op)
{
    if (m_groups.shards() > 1)
        m_groups.within().allReduce(&part, 1, WireType::F64, op);
    return part;
}

at::Tensor ShardedStrategy::gatherWhole(const at::Tensor& shard)
{
    return m_groups.shards() > 1 ? gatherFlat(shard, m_groups.within()) : shard;
}

NamedTensors ShardedStrategy::fullParameters(bool wanted)
{
    return fullState(m_parameters, wanted);
}

NamedTensors ShardedStrategy::fullState(const std::vector<at::Tensor>& perParameter, bool wanted)
{
    const at::NoGradGuard noGrad;
    NamedTensors whole;
    for (std::size_t i = 0; wanted && i < perParameter.size(); ++i)
        whole.emplace_back(parameterNames()[i], at::Tensor());
    // One unit after the other, so that no more than one is whole at a time.
    for (int unit = 0; unit <= rootIndex(); ++unit) {
        const at::Tensor gathered = gatherWhole(shardOf(unit, perParameter));
        for (std::size_t i = 0; wanted && i < m_places.size(); ++i) {
            if (m_places[i].unit == unit && perParameter[i].defined())
                whole[i].second = at(unit).whole(gathered, m_places[i].weight).clone();
        }
    }
    std::erase_if(whole, [](const auto& entry) { return !entry.second.defined(); });
    return whole;
}

at::Tensor ShardedStrategy::partOf(const at::Tensor& whole, std::size_t index) const
{
    const auto& place = m_places[index];
    return m_units[static_cast<std::size_t>(place.unit)].cut(whole, place.weight);
}

at::Tensor ShardedStrategy::shardOf(int unit, const std::vector<at::Tensor>& perParameter)
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

int ShardedStrategy::gathers() const
{
    int count = 0;
    for (const auto& unit : m_units)
        count += unit.gathers();
    return count;
}

int ShardedStrategy::reductions() const
{
    int count = 0;
    for (const auto& unit : m_units)
        count += unit.reductions();
    return count;
}

} // namespace mantissa
