#include "engine/data/sampler.h"

#include "engine/data/random.h"

#include <algorithm>
#include <numeric>

namespace mantissa {

std::int64_t Sampler::batchesPerEpoch() const
{
    const std::int64_t whole = m_plan.jointBatch > 0 ? m_plan.samples / m_plan.jointBatch : 0;
    return m_plan.limitBatches >= 0 ? std::min(whole, m_plan.limitBatches) : whole;
}

std::vector<std::int64_t> Sampler::order(std::int64_t epoch) const
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(m_plan.samples));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (!m_plan.shuffle)
        return order;
    Random random(m_plan.seed ^ (0xD1B54A32D192ED03ULL * (static_cast<std::uint64_t>(epoch) + 1)));
    for (std::int64_t i = m_plan.samples - 1; i > 0; --i)
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
    return order;
}

std::vector<std::int64_t> Sampler::rows(const std::vector<std::int64_t>& order, std::int64_t batch,
                                        int rank) const
{
    const std::int64_t mine = m_plan.jointBatch / m_plan.ranks;
    const std::int64_t begin = batch * m_plan.jointBatch + rank * mine;
    return {order.begin() + begin, order.begin() + begin + mine};
}

} // namespace mantissa
