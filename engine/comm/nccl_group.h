#pragma once

#include "engine/comm/nccl_library.h"
#include "engine/comm/rank_group.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mantissa {

/// Rank threads of one process that meet through NCCL, each with a GPU of its own. Memory may lie on the host
/// or on a device: what NCCL is given is a copy on the rank's device.
///
/// NCCL neither notices that a rank stays away nor that ranks call different things, so each call is counted
/// and watched from here: without blocking, with a time-out, and with an end for all once one fails.
class NcclGroup final : public RankGroup {
public:
    /// NotHere where there are fewer GPUs than ranks.
    static Result<std::unique_ptr<NcclGroup>> make(std::shared_ptr<const NcclLibrary> library, int ranks,
                                                   std::chrono::milliseconds timeout);

    std::unique_ptr<Communicator> communicator(int rank) override;
    int size() const override { return static_cast<int>(m_calls.size()); }
    void abort(const std::string& why) noexcept override { end(why, {}); }
    bool aborted() const noexcept override { return m_aborted.load(std::memory_order_acquire); }
    std::string reason() const override;
    std::vector<int> missing() const override;

private:
    friend class NcclCommunicator;

    /// What a rank has called, for the message when somebody waits in vain.
    struct Calls {
        std::atomic<std::uint64_t> count{0};
        std::atomic<const char*> name{"nothing"};
    };

    NcclGroup(std::shared_ptr<const NcclLibrary> library, int ranks, std::chrono::milliseconds timeout,
              nccl::UniqueId id);

    void end(const std::string& why, const std::vector<int>& missing) noexcept;
    void giveUp(int rank, const std::vector<int>& peers);

    const std::shared_ptr<const NcclLibrary> m_library;
    const std::chrono::milliseconds m_timeout;
    const nccl::UniqueId m_id;
    std::vector<Calls> m_calls;
    std::atomic<bool> m_aborted{false};
    mutable std::mutex m_mutex;
    std::string m_reason;
    std::vector<int> m_missing;
};

} // namespace mantissa
