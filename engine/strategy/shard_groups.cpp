#include "engine/strategy/shard_groups.h"

#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

int replicasOf(const Communicator& all, Sharding sharding, int replicas)
{
    if (sharding == Sharding::None)
        return all.size();
    const bool hybrid = sharding == Sharding::Hybrid || sharding == Sharding::HybridGradOp;
    if (hybrid && (replicas < 1 || all.size() % replicas != 0))
        throw std::invalid_argument(std::to_string(all.size()) + " ranks do not make "
                                    + std::to_string(replicas) + " groups of one size");
    return hybrid ? replicas : 1;
}

} // namespace

ShardGroups::ShardGroups(Communicator& all, Sharding sharding, int replicas)
    : m_all(all),
      m_shards(all.size() / replicasOf(all, sharding, replicas)),
      m_replicas(all.size() / m_shards),
      m_shard(all.rank() % m_shards)
{
    if (m_shards == 1 || m_replicas == 1)
        return;
    m_ownWithin = all.split(all.rank() / m_shards);
    m_ownAcross = all.split(m_shard);
}

} // namespace mantissa
