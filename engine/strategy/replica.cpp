#include "engine/strategy/replica.h"

namespace mantissa {

ReplicaStrategy::ReplicaStrategy(const Model& model, const WeightSource& weights, ReplicaOptions options,
                                 Communicator& communicator)
    : Strategy(model.parameters()),
      m_communicator(communicator),
      m_ofUnit(static_cast<std::size_t>(model.unitCount()))
{
    const auto& specs = model.parameters();
    for (std::size_t i = 0; i < specs.size(); ++i) {
        // A copy even where the dtype fits: the ranks may be given the same tensors.
        at::Tensor weight = weights(i).detach().to(options.stored, false, true).contiguous();
        const bool trained = !isFrozen(specs[i].name, options.frozen);
        m_parameters.push_back(weight.set_requires_grad(trained));
        m_ofUnit[static_cast<std::size_t>(specs[i].unit)].push_back(i);
        m_memory.parameters += weight.nbytes();
        m_memory.gradients += trained ? weight.nbytes() : 0;
    }
    if (communicator.size() == 1)
        return;
    makeBuckets(options.plan);
    if (!options.plan.broadcastBuffers)
        return;
    for (const auto& [name, buffer] : model.buffers())
        m_modelBuffers.push_back(buffer);
}

void ReplicaStrategy::makeBuckets(const DdpPlan& plan)
{
    std::vector<at::Tensor> trained;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (!m_parameters[i].requires_grad())
            continue;
        trained.push_back(m_parameters[i]);
        names.push_back(parameterNames()[i]);
        m_trained.push_back(i);
    }
    m_buckets = std::make_unique<GradientBuckets>(m_communicator, std::move(trained), std::move(names), plan);
    m_memory.reduction = m_buckets->copyBytes();
}

std::vector<at::Tensor> ReplicaStrategy::enter(int unit)
{
    shareBuffers();
    std::vector<at::Tensor> weights;
    for (const std::size_t index : m_ofUnit[static_cast<std::size_t>(unit)])
        weights.push_back(m_parameters[index]);
    return weights;
}

at::Tensor ReplicaStrategy::leave(int, const at::Tensor& output)
{
    return output;
}

void ReplicaStrategy::shareBuffers()
{
    if (!m_buffersDiffer)
        return;
    const at::NoGradGuard noGrad;
    for (auto& buffer : m_modelBuffers) {
        const at::Tensor dense = buffer.contiguous();
        m_communicator.broadcast(dense.mutable_data_ptr(), dense.nbytes(), 0);
        if (!dense.is_same(buffer))
            buffer.copy_(dense);
    }
    m_buffersDiffer = false;
}

void ReplicaStrategy::setSync(bool sync)
{
    m_sync = sync;
    if (m_buckets)
        m_buckets->beginPass(sync);
}

void ReplicaStrategy::endOfBackward()
{
    m_fresh = true;
    if (!m_buckets)
        return;
    m_buckets->endPass();
    m_buffersDiffer = m_sync && !m_modelBuffers.empty();
}

void ReplicaStrategy::countFresh()
{
    if (!std::exchange(m_fresh, false))
        return;
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        m_nonfinite.add(countNonfinite(m_parameters[i].grad()), i);
}

NonfiniteTally ReplicaStrategy::takeNonfiniteBefore()
{
    if (!m_buckets) {
        countFresh();
        return std::exchange(m_nonfinite, {});
    }
    NonfiniteTally tally = m_buckets->takeNonfinite();
    if (tally.deepest)
        tally.deepest = m_trained[*tally.deepest];
    return tally;
}

void ReplicaStrategy::reduceGradients()
{
    if (m_buckets)
        m_buckets->finish();
    else
        countFresh();
}

void ReplicaStrategy::zeroGradients()
{
    m_fresh = false;
    if (m_buckets)
        return m_buckets->zero();
    for (auto& parameter : m_parameters)
        parameter.mutable_grad().reset();
}

NamedTensors ReplicaStrategy::fullParameters(bool wanted)
{
    return fullState(m_parameters, wanted);
}

NamedTensors ReplicaStrategy::fullState(const std::vector<at::Tensor>& perParameter, bool wanted)
{
    NamedTensors whole;
    for (std::size_t i = 0; wanted && i < perParameter.size(); ++i) {
        if (perParameter[i].defined())
            whole.emplace_back(parameterNames()[i], perParameter[i].detach().clone());
    }
    return whole;
}

at::Tensor ReplicaStrategy::partOf(const at::Tensor& whole, std::size_t) const
{
    return whole;
}

} // namespace mantissa
