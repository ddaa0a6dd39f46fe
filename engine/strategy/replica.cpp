#include "engine/strategy/replica.h"

#include "engine/strategy/nonfinite.h"
#include "engine/strategy/wire_type.h"

namespace mantissa {

ReplicaStrategy::ReplicaStrategy(const Model& model, const std::vector<at::Tensor>& weights,
                                 at::ScalarType stored, Communicator& communicator)
    : Strategy(model.parameters()),
      m_communicator(communicator),
      m_ofUnit(static_cast<std::size_t>(model.unitCount()))
{
    const auto& specs = model.parameters();
    for (std::size_t i = 0; i < specs.size(); ++i) {
        // A copy even where the dtype fits: the ranks are given the same tensors.
        m_parameters.push_back(
            weights[i].detach().to(stored, false, true).contiguous().set_requires_grad(true));
        m_ofUnit[static_cast<std::size_t>(specs[i].unit)].push_back(i);
        m_bytes += m_parameters.back().nbytes();
    }
    if (alone())
        return;
    makeFlatGradients(stored);
    for (const auto& [name, buffer] : model.buffers())
        m_buffers.push_back(buffer);
}

void ReplicaStrategy::makeFlatGradients(at::ScalarType stored)
{
    std::int64_t elements = 0;
    for (const auto& parameter : m_parameters)
        elements += parameter.numel();
    m_flat = at::zeros({elements}, stored);
    std::int64_t offset = 0;
    for (auto& parameter : m_parameters) {
        parameter.mutable_grad() = m_flat.narrow(0, offset, parameter.numel()).view(parameter.sizes());
        offset += parameter.numel();
    }
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
    for (auto& buffer : m_buffers) {
        const at::Tensor dense = buffer.contiguous();
        m_communicator.broadcast(dense.mutable_data_ptr(), dense.nbytes(), 0);
        if (!dense.is_same(buffer))
            buffer.copy_(dense);
    }
    m_buffersDiffer = false;
}

void ReplicaStrategy::setSync(bool sync)
{
    if (m_pending) {
        average();
        m_averaged = m_averaged.defined() ? m_averaged.add_(m_flat) : m_flat.clone();
        m_flat.zero_();
    }
    m_sync = sync;
}

void ReplicaStrategy::endOfBackward()
{
    m_fresh = true;
    m_pending = m_sync && !alone();
    m_buffersDiffer = m_pending && !m_buffers.empty();
}

void ReplicaStrategy::countFresh()
{
    if (!std::exchange(m_fresh, false))
        return;
    if (!alone()) {
        m_nonfinite += countNonfinite(m_flat);
        return;
    }
    for (const auto& parameter : m_parameters)
        m_nonfinite += countNonfinite(parameter.grad());
}

std::int64_t ReplicaStrategy::takeNonfiniteBefore()
{
    countFresh();
    return std::exchange(m_nonfinite, 0);
}

void ReplicaStrategy::average()
{
    countFresh();
    // Divided before the sum, as DDP does it: in 16 bit the sum could overflow where the mean does not.
    m_flat.mul_(1.0 / m_communicator.size());
    m_communicator.allReduce(m_flat.mutable_data_ptr(), static_cast<std::size_t>(m_flat.numel()),
                             wireTypeOf(m_flat.scalar_type()), ReduceOp::Sum);
    m_pending = false;
}

void ReplicaStrategy::reduceGradients()
{
    countFresh();
    if (alone())
        return;
    const at::NoGradGuard noGrad;
    average();
    if (m_averaged.defined()) {
        m_flat.add_(m_averaged);
        m_averaged.reset();
    }
}

void ReplicaStrategy::zeroGradients()
{
    m_fresh = false;
    m_pending = false;
    m_averaged.reset();
    if (!alone()) {
        m_flat.zero_();
        return;
    }
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
