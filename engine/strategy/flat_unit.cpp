#include "engine/strategy/flat_unit.h"

#include "engine/strategy/nonfinite.h"
#include "engine/strategy/wire_type.h"

#include <utility>

namespace mantissa {
namespace {

std::int64_t aligned(std::int64_t elements)
{
    constexpr std::int64_t kElements = 16; // 64 bytes of fp32: matrix kernels read whole cache lines
    return (elements + kElements - 1) / kElements * kElements;
}

std::vector<std::int64_t> denseStrides(const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * shape[i];
    return strides;
}

// The mean is taken half before and half after the sum, so that fp16 neither overflows nor underflows: FSDP's
// own factors.
std::int64_t dividedBefore(std::int64_t ranks)
{
    std::int64_t factor = 1;
    while (ranks % factor == 0 && ranks / factor > factor)
        factor *= 2;
    return factor;
}

void divide(at::Tensor& tensor, double by)
{
    if (by > 1.0)
        tensor.div_(by);
}

} // namespace

FlatUnit::FlatUnit(Communicator& communicator, ParameterMeter& meter, FlatDtypes dtypes,
                   const std::vector<at::Tensor>& weights)
    : m_communicator(communicator), m_meter(meter), m_dtypes(dtypes)
{
    layOut(weights);
    const at::NoGradGuard noGrad;
    m_shard = at::zeros({m_shardLength}, dtypes.stored);
    for (std::size_t i = 0; i < weights.size(); ++i)
        piece(m_shard, i).copy_(cut(weights[i].detach(), i));
    m_shard.set_requires_grad(true);
    m_gradient = at::zeros({m_shardLength}, dtypes.stored);
    m_buffer = at::empty({m_shardLength * communicator.size()}, dtypes.param);
    m_wholeBytes = m_buffer.storage().nbytes();
    m_meter.add(m_shard.nbytes());
    m_whole = true;
    m_meter.add(m_wholeBytes);
    release();
}

void FlatUnit::layOut(const std::vector<at::Tensor>& weights)
{
    std::int64_t end = 0;
    for (const auto& weight : weights) {
        m_shapes.push_back(weight.sizes().vec());
        m_lengths.push_back(weight.numel());
        m_offsets.push_back(end);
        end += aligned(weight.numel());
    }
    const std::int64_t ranks = m_communicator.size();
    m_shardLength = aligned((end + ranks - 1) / ranks);
}

void FlatUnit::materialize()
{
    if (m_whole)
        return;
    auto* storage = m_buffer.storage().unsafeGetStorageImpl();
    at::native::resize_bytes_cpu(storage, m_wholeBytes);
    m_whole = true;
    m_meter.add(m_wholeBytes);
    const auto count = static_cast<std::size_t>(m_shardLength);
    const std::size_t bytes = count * m_buffer.itemsize();
    auto* whole = static_cast<char*>(m_buffer.mutable_data_ptr());
    const void* own = m_shard.const_data_ptr();
    if (m_dtypes.param != m_dtypes.stored) {
        // Converted straight into this rank's place of the buffer: 16-bit weights travel as 16 bits, and no
        // copy is made.
        const at::NoGradGuard noGrad;
        auto* place = whole + static_cast<std::size_t>(m_communicator.rank()) * bytes;
        at::from_blob(place, {m_shardLength}, at::TensorOptions(m_dtypes.param)).copy_(m_shard.detach());
        own = place;
    }
    m_communicator.allGather(own, whole, count, wireTypeOf(m_dtypes.param));
    ++m_gathers;
}

void FlatUnit::release()
{
    if (!m_whole)
        return;
    auto* storage = m_buffer.storage().unsafeGetStorageImpl();
    storage->set_data_ptr_noswap(storage->allocator()->allocate(0));
    storage->set_nbytes(0);
    m_whole = false;
    m_meter.remove(m_wholeBytes);
}

std::vector<at::Tensor> FlatUnit::aliases() const
{
    std::vector<at::Tensor> weights;
    for (std::size_t i = 0; i < m_shapes.size(); ++i) {
        at::Tensor weight = at::empty({0}, m_buffer.options());
        weight.set_(m_buffer.storage(), m_offsets[i], m_shapes[i], denseStrides(m_shapes[i]));
        weights.push_back(std::move(weight));
    }
    return weights;
}

void FlatUnit::takeGradients(std::vector<at::Tensor>&& gradients, bool sync)
{
    const at::NoGradGuard noGrad;
    at::Tensor flat = at::zeros({m_shardLength * m_communicator.size()}, m_dtypes.reduce);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (gradients[i].defined())
            flat.narrow(0, m_offsets[i], m_lengths[i]).copy_(gradients[i].reshape({-1}));
    }
    gradients.clear();
    if (!sync) {
        m_unsynced = m_unsynced.defined() ? m_unsynced.add_(flat) : flat.to(at::kFloat);
        return;
    }
    if (m_unsynced.defined())
        flat = std::exchange(m_unsynced, at::Tensor()).add_(flat).to(m_dtypes.reduce);
    reduce(std::move(flat));
}

void FlatUnit::reduceLeftover()
{
    const at::NoGradGuard noGrad;
    if (m_unsynced.defined())
        reduce(std::exchange(m_unsynced, at::Tensor()).to(m_dtypes.reduce));
}

void FlatUnit::reduce(at::Tensor flat)
{
    m_nonfinite += countNonfinite(flat);
    const std::int64_t ranks = m_communicator.size();
    const std::int64_t before = dividedBefore(ranks);
    divide(flat, static_cast<double>(before));
    at::Tensor own = at::empty({m_shardLength}, flat.options());
    m_communicator.reduceScatter(flat.const_data_ptr(), own.mutable_data_ptr(),
                                 static_cast<std::size_t>(m_shardLength), wireTypeOf(m_dtypes.reduce));
    ++m_reductions;
    divide(own, static_cast<double>(ranks) / static_cast<double>(before));
    if (m_hasGradient)
        m_gradient.add_(own.to(m_dtypes.stored));
    else
        m_gradient.copy_(own);
    m_hasGradient = true;
}

void FlatUnit::zeroGradient()
{
    m_hasGradient = false;
    m_unsynced.reset();
}

FlatUnit::Span FlatUnit::spanOf(std::size_t weight) const
{
    const std::int64_t first = m_shardLength * m_communicator.rank();
    const std::int64_t offset = m_offsets[weight];
    const std::int64_t begin = std::clamp<std::int64_t>(offset - first, 0, m_shardLength);
    const std::int64_t end = std::clamp<std::int64_t>(offset + m_lengths[weight] - first, 0, m_shardLength);
    return {begin, std::clamp<std::int64_t>(first - offset, 0, m_lengths[weight]), end - begin};
}

at::Tensor FlatUnit::piece(const at::Tensor& shard, std::size_t weight) const
{
    const Span span = spanOf(weight);
    return shard.detach().narrow(0, span.inShard, span.length);
}

at::Tensor FlatUnit::cut(const at::Tensor& whole, std::size_t weight) const
{
    const Span span = spanOf(weight);
    return whole.reshape({-1}).narrow(0, span.inWeight, span.length);
}

at::Tensor FlatUnit::whole(const at::Tensor& gathered, std::size_t weight) const
{
    return gathered.narrow(0, m_offsets[weight], m_lengths[weight]).view(m_shapes[weight]);
}

} // namespace mantissa
