#pragma once

#include "engine/strategy/memory_meter.h"
#include "engine/strategy/nonfinite.h"
#include "engine/strategy/shard_groups.h"
#include "engine/tensor/torch.h"

#include <cstdint>
#include <vector>

namespace mantissa {

/// Stored shards and their gradients; gathered weights; gradients on their way between ranks.
struct FlatDtypes {
    at::ScalarType stored = at::kFloat;
    at::ScalarType param = at::kFloat;
    at::ScalarType reduce = at::kFloat;
};

/// A weight of a unit.
struct FlatWeight {
    std::vector<std::int64_t> shape;
    bool frozen = false; ///< Gets no gradient.
};

/// One unit of a sharded model on one rank: its weights laid end to end and padded, cut into equal shards,
/// one of which is here. The whole is gathered into a buffer whose storage object lives as long as the unit
/// while its bytes come and go, so that every alias that autograd has saved sees the weights again once they
/// are back. Used by its rank's thread alone.
///
/// With one shard, or where the whole is kept (`stays`), and no change of dtype, the shard is its part of the
/// buffer: nothing is there twice.
class FlatUnit {
public:
    FlatUnit(const ShardGroups& groups, MemoryMeter& meter, FlatDtypes dtypes,
             std::vector<FlatWeight> weights, bool stays);

    void fill(std::size_t weight, const at::Tensor& value); ///< Sets a whole weight. Before anything else.

    void
    materialize(); ///< Makes the whole unit be here, up to date. A collective, where something is missing.
    void release(); ///< Gives the bytes of the whole unit back, unless they stay.
    void markStale() { m_stale = true; } ///< The shards have changed.
    bool isWhole() const { return m_whole && !m_stale; }
    std::vector<at::Tensor>
    aliases() const; ///< The weights inside the buffer; no views, so with version counters of their own.

    /// Takes this backward pass's gradients, undefined ones included. With `sync` they go to the shards of
    /// all ranks: a collective.
    void takeGradients(std::vector<at::Tensor>&& gradients, bool sync);
    void
    reduceLeftover(); ///< Sends what passes without sync left behind, if no later one has. A collective then.
    bool hasGradient() const { return m_hasGradient; }
    void zeroGradient();
    NonfiniteTally takeNonfinite() { return std::exchange(m_nonfinite, {}); } ///< By place in this unit.

    bool frozen() const; ///< All of it.
    bool frozen(std::size_t weight) const { return m_weights[weight].frozen; }

    at::Tensor& shard() { return m_shard; } ///< The leaf, in the stored dtype.
    at::Tensor piece(const at::Tensor& shard,
                     std::size_t weight) const; ///< What a shard has of one weight; may be empty.
    at::Tensor cut(const at::Tensor& whole,
                   std::size_t weight) const; ///< The same part of a whole weight; shares its memory.
    at::Tensor whole(const at::Tensor& gathered,
                     std::size_t weight) const; ///< One weight out of all shards in rank order.
    at::Tensor& gradient() { return m_gradient; }

    std::int64_t shardLength() const { return m_shardLength; }
    std::uint64_t wholeBytes() const { return m_wholeBytes; }
    std::uint64_t shardBytes() const { return m_inPlace ? m_wholeBytes : m_shard.nbytes(); }
    bool inPlace() const { return m_inPlace; }
    int gathers() const { return m_gathers; }
    int reductions() const { return m_reductions; }

private:
    /// The part of a weight that lies in this rank's shard.
    struct Span {
        std::int64_t inShard = 0;
        std::int64_t inWeight = 0;
        std::int64_t length = 0;
    };

    Span spanOf(std::size_t weight) const;
    void layOut();
    void convertOwn();
    at::Tensor ownPlace() const; ///< This rank's part of the buffer.
    void countNonfiniteOf(const at::Tensor& flat);
    void reduce(at::Tensor flat);
    at::Tensor sumOverShards(const at::Tensor& flat);

    const ShardGroups& m_groups;
    MemoryMeter& m_meter;
    FlatDtypes m_dtypes;
    std::vector<FlatWeight> m_weights;
    bool m_stays;
    bool m_inPlace;
    std::vector<std::int64_t> m_offsets;
    std::vector<std::int64_t> m_lengths;
    std::int64_t m_shardLength = 0;
    std::uint64_t m_wholeBytes = 0;
    at::Tensor m_shard;
    at::Tensor m_gradient; ///< Of the shard, in the stored dtype; holds something only while m_hasGradient.
    at::Tensor m_buffer;
    at::Tensor m_unsynced; ///< Sum, in fp32 at least, of passes without sync.
    bool m_whole = false;
    bool m_stale = true;
    bool m_hasGradient = false;
    NonfiniteTally m_nonfinite;
    int m_gathers = 0;
    int m_reductions = 0;
};

} // namespace mantissa
