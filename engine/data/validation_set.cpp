#include "engine/data/validation_set.h"

#include <algorithm>
#include <numeric>

namespace mantissa {

ValidationSet::ValidationSet(std::shared_ptr<const DataSet> data, std::int64_t rowsPerRank, int ranks)
    : m_data(std::move(data)), m_rows(rowsPerRank), m_ranks(ranks)
{
}

std::int64_t ValidationSet::batches() const
{
    const std::int64_t joint = m_rows * m_ranks;
    return (m_data->size() + joint - 1) / joint;
}

ValidationSet::Part ValidationSet::take(std::int64_t batch, int rank) const
{
    const std::int64_t begin = batch * m_rows * m_ranks;
    const std::int64_t joint = std::min(m_data->size() - begin, m_rows * m_ranks);
    const std::int64_t mine = (joint + m_ranks - 1) / m_ranks;
    const std::int64_t first = std::min(joint, mine * rank);
    const std::int64_t counted = std::min(mine, joint - first);
    std::vector<std::int64_t> samples(static_cast<std::size_t>(std::max<std::int64_t>(counted, 1)));
    std::iota(samples.begin(), samples.end(), counted > 0 ? begin + first : begin);
    return {m_data->take(samples), counted};
}

} // namespace mantissa
