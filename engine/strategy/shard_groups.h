#pragma once

#include "engine/comm/communicator.h"
#include "engine/recipe/strategy_plan.h"

#include <memory>

namespace mantissa {

/// Who shares what with this rank: the ranks whose shards make a whole together, and those that hold the same
/// shard. A grid of replicas times shards; rank = replica × shards + shard.
class ShardGroups {
public:
    /// Makes the groups: a collective where there is more than one of both.
    ShardGroups(Communicator& all, Sharding sharding, int replicas);

    int shard() const { return m_shard; }
    int shards() const { return m_shards; }
    int replicas() const { return m_replicas; }
    int ranks() const { return m_all.size(); }

    Communicator& all() const { return m_all; }
    Communicator& within() const { return m_ownWithin ? *m_ownWithin : m_all; } ///< Only where shards() > 1.
    Communicator& across() const
    {
        return m_ownAcross ? *m_ownAcross : m_all;
    } ///< Only where replicas() > 1.

private:
    Communicator& m_all;
    int m_shards;
    int m_replicas;
    int m_shard;
    std::unique_ptr<Communicator> m_ownWithin;
    std::unique_ptr<Communicator> m_ownAcross;
};

} // namespace mantissa
