#include "engine/strategy/flat_unit.h"

#include "engine/strategy/wire_type.h"

#include <algorithm>
#include <utility>

namespace mantissa {
namespace {

std::int64_t aligned(std::int64_t elements)
{
    const std::int64_t one[] = {elements};
    return shardElements(one, 1);
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

FlatUnit::FlatUnit(const ShardGroups& groups, MemoryMeter& meter, FlatDtypes dtypes,
                   std::vector<FlatWeight> weights, bool stays)
    : m_groups(groups),
      m_meter(meter),
      m_dtypes(dtypes),
      m_weights(std::move(weights)),
      m_stays(stays),
      m_inPlace(dtypes.param == dtypes.stored && (stays || groups.shards() == 1))
{
    layOut();
    const at::NoGradGuard noGrad;
    const std::int64_t elements = m_shardLength * groups.shards();
    if (m_inPlace) {
        m_buffer = at::zeros({elements}, dtypes.param);
        m_wholeBytes = m_buffer.nbytes();
        m_whole = true;
        m_shard = ownPlace();
    } else {
        m_buffer = at::empty({0}, dtypes.param);
        m_wholeBytes = static_cast<std::uint64_t>(elements) * m_buffer.itemsize();
        m_shard = at::zeros({m_shardLength}, dtypes.stored);
    }
    m_shard.set_requires_grad(!frozen());
    m_meter.keep(shardBytes());
    if (frozen())
        return;
    m_gradient = at::zeros({m_shardLength}, dtypes.stored);
    m_meter.gradients.add(m_gradient.nbytes());
}

void FlatUnit::layOut()
{
    for (const auto& weight : m_weights)
        m_lengths.push_back(c10::multiply_integers(weight.shape));
    std::int64_t end = 0;
    for (const auto length : m_lengths) {
        m_offsets.push_back(end);
        end += aligned(length);
    }
    m_shardLength = shardElements(m_lengths, m_groups.shards());
}

bool FlatUnit::frozen() const
{
    return std::all_of(m_weights.begin(), m_weights.end(), [](const auto& weight) { return weight.frozen; });
}

void FlatUnit::fill(std::size_t weight, const at::Tensor& value)
{
    const at::NoGradGuard noGrad;
    if (m_inPlace)
        whole(m_buffer, weight).copy_(value.detach());
    else
        piece(m_shard, weight).copy_(cut(value.detach(), weight));
    m_stale = !m_inPlace;
}

at::Tensor FlatUnit::ownPlace() const
{
    at::Tensor own = at::empty({0}, m_buffer.options());
    own.set_(m_buffer.storage(), m_shardLength * m_groups.shard(), {m_shardLength}, {1});
    return own;
}

void FlatUnit::materialize()
{
    if (isWhole())
        return;
    if (!m_whole) {
        at::native::resize_bytes_cpu(m_buffer.storage().unsafeGetStorageImpl(), m_wholeBytes);
        m_whole = true;
        m_meter.gather(m_wholeBytes);
    }
    m_stale = false;
    const auto count = static_cast<std::size_t>(m_shardLength);
    const void* own = m_shard.const_data_ptr();
    if (m_dtypes.param != m_dtypes.stored || m_groups.shards() == 1) {
        convertOwn();
        own = ownPlace().const_data_ptr();
    }
    if (m_groups.shards() == 1)
        return;
    m_groups.within().allGather(own, m_buffer.storage().mutable_data(), count, wireTypeOf(m_dtypes.param));
    ++m_gathers;
}

// Straight into this rank's place of the buffer: 16-bit weights travel as 16 bits, and no copy is made.
void FlatUnit::convertOwn()
{
    if (m_inPlace)
        return;
    const at::NoGradGuard noGrad;
    ownPlace().copy_(m_shard.detach());
}

void FlatUnit::release()
{
    if (!m_whole || m_inPlace || m_stays)
        return;
    auto* storage = m_buffer.storage().unsafeGetStorageImpl();
    storage->set_data_ptr_noswap(storage->allocator()->allocate(0));
    storage->set_nbytes(0);
    m_whole = false;
    m_meter.giveBack(m_wholeBytes);
}

std::vector<at::Tensor> FlatUnit::aliases() const
{
    std::vector<at::Tensor> weights;
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
        at::Tensor weight = at::empty({0}, m_buffer.options());
        weight.set_(m_buffer.storage(), m_offsets[i], m_weights[i].shape, denseStrides(m_weights[i].shape));
        weights.push_back(std::move(weight));
    }
    return weights;
}

void FlatUnit::takeGradients(std::vector<at::Tensor>&& gradients, bool sync)
{
    const at::NoGradGuard noGrad;
    at::Tensor flat = at::zeros({m_shardLength * m_groups.shards()}, m_dtypes.reduce);
    const std::uint64_t bytes = flat.nbytes();
    m_meter.reduction.add(bytes);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (gradients[i].defined() && !m_weights[i].frozen)
            flat.narrow(0, m_offsets[i], m_lengths[i]).copy_(gradients[i].reshape({-1}));
    }
    gradients.clear();
    if (!sync) {
        if (!m_unsynced.defined()) {
            m_unsynced = flat.to(at::promote_types(flat.scalar_type(), at::kFloat));
            m_meter.reduction.add(m_unsynced.nbytes());
        } else {
            m_unsynced.add_(flat);
        }
    } else if (m_unsynced.defined()) {
        m_unsynced.add_(flat);
        reduceLeftover();
    } else {
        reduce(std::move(flat));
    }
    m_meter.reduction.remove(bytes);
}

void FlatUnit::reduceLeftover()
{
    if (!m_unsynced.defined())
        return;
    const at::NoGradGuard noGrad;
    const std::uint64_t bytes = m_unsynced.nbytes();
    reduce(std::exchange(m_unsynced, at::Tensor()).to(m_dtypes.reduce));
    m_meter.reduction.remove(bytes);
}

at::Tensor FlatUnit::sumOverShards(const at::Tensor& flat)
{
    if (m_groups.shards() == 1)
        return flat;
    at::Tensor own = at::empty({m_shardLength}, flat.options());
    m_groups.within().reduceScatter(flat.const_data_ptr(), own.mutable_data_ptr(),
                                    static_cast<std::size_t>(m_shardLength), wireTypeOf(m_dtypes.reduce));
    return own;
}

void FlatUnit::countNonfiniteOf(const at::Tensor& flat)
{
    const std::int64_t count = countNonfinite(flat);
    for (std::size_t weight = m_weights.size(); count > 0 && weight-- > 0;) {
        if (countNonfinite(flat.narrow(0, m_offsets[weight], m_lengths[weight])) == 0)
            continue;
        m_nonfinite.add(count, weight);
        return;
    }
}

void FlatUnit::reduce(at::Tensor flat)
{
    countNonfiniteOf(flat);
    const std::int64_t ranks = m_groups.ranks();
    const std::int64_t before = dividedBefore(ranks);
    divide(flat, static_cast<double>(before));
    at::Tensor own = sumOverShards(flat);
    const std::uint64_t bytes = m_groups.shards() == 1 ? 0 : own.nbytes();
    m_meter.reduction.add(bytes);
    if (m_groups.replicas() > 1)
        m_groups.across().allReduce(own.mutable_data_ptr(), static_cast<std::size_t>(own.numel()),
                                    wireTypeOf(m_dtypes.reduce), ReduceOp::Sum);
    ++m_reductions;
    divide(own, static_cast<double>(ranks) / static_cast<double>(before));
    if (m_hasGradient)
        m_gradient.add_(own.to(m_dtypes.stored));
    else
        m_gradient.copy_(own);
    m_hasGradient = true;
    m_meter.reduction.remove(bytes);
}

void FlatUnit::zeroGradient()
{
    m_hasGradient = false;
    if (!m_unsynced.defined())
        return;
    m_meter.reduction.remove(m_unsynced.nbytes());
    m_unsynced.reset();
}

FlatUnit::Span FlatUnit::spanOf(std::size_t weight) const
{
    const std::int64_t first = m_shardLength * m_groups.shard();
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
    return gathered.narrow(0, m_offsets[weight], m_lengths[weight]).view(m_weights[weight].shape);
}

} // namespace mantissa
