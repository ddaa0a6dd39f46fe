#pragma once

#include "engine/comm/communicator.h"
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

/// Bytes of parameters alive on one rank: shards, and whole units while they are gathered.
class ParameterMeter {
public:
    void add(std::uint64_t bytes)
    {
        m_alive += bytes;
        m_peak = m_alive > m_peak ? m_alive : m_peak;
    }
    void remove(std::uint64_t bytes) { m_alive -= bytes; }
    std::uint64_t peak() const { return m_peak; }

private:
    std::uint64_t m_alive = 0;
    std::uint64_t m_peak = 0;
};

/// One unit of a sharded model on one rank: its weights laid end to end and padded, cut into equal shards,
/// one of which is here. The whole is gathered into a buffer whose storage object lives as long as the unit
/// while its bytes come and go, so that every alias that autograd has saved sees the weights again once they
/// are back. Used by its rank's thread alone.
class FlatUnit {
public:
    FlatUnit(Communicator& communicator, ParameterMeter& meter, FlatDtypes dtypes,
             const std::vector<at::Tensor>& weights);

    void materialize(); ///< Gathers the whole unit unless it is here. A collective.
    void release(); ///< Gives the bytes of the whole unit back.
    bool isWhole() const { return m_whole; }
    std::vector<at::Tensor>
    aliases() const; ///< The weights inside the buffer; no views, so with version counters of their own.

    /// Takes this backward pass's gradients, undefined ones included. With `sync` they go to the shards of
    /// all ranks: a collective.
    void takeGradients(std::vector<at::Tensor>&& gradients, bool sync);
    void
    reduceLeftover(); ///< Sends what passes without sync left behind, if no later one has. A collective then.
    bool hasGradient() const { return m_hasGradient; }
    void zeroGradient();
    std::int64_t takeNonfinite() { return std::exchange(m_nonfinite, 0); }

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
    void layOut(const std::vector<at::Tensor>& weights);
    void reduce(at::Tensor flat);

    Communicator& m_communicator;
    ParameterMeter& m_meter;
    FlatDtypes m_dtypes;
    std::vector<std::vector<std::int64_t>> m_shapes;
    std::vector<std::int64_t> m_offsets;
    std::vector<std::int64_t> m_lengths;
    std::int64_t m_shardLength = 0;
    std::uint64_t m_wholeBytes = 0;
    at::Tensor m_shard;
    at::Tensor m_gradient; ///< Of the shard, in the stored dtype; holds something only while m_hasGradient.
    at::Tensor m_buffer;
    at::Tensor m_unsynced; ///< Sum in fp32 of passes without sync.
    bool m_whole = false;
    bool m_hasGradient = false;
    std::int64_t m_nonfinite = 0;
    int m_gathers = 0;
    int m_reductions = 0;
};

} // namespace mantissa
