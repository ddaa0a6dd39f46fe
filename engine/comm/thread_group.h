#pragma once

#include "engine/comm/rank_group.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// Where the rank threads of one process meet. Outlives its communicators. abort(), aborted() and reason()
/// may be called from any thread, everything else from the rank's own. Some of the ranks may meet apart, in
/// a group within the group: what ends one of them ends all.
///
/// A collective may only fail on entry, and there the last rank to arrive decides for all: a rank that left
/// while others still read its memory would free it under them. Inside a collective there is nothing but
/// copying, so nobody waits long.
class ThreadGroup final : public RankGroup {
public:
    ThreadGroup(int ranks, std::chrono::milliseconds timeout);
    ~ThreadGroup() override;
    ThreadGroup(const ThreadGroup&) = delete;
    ThreadGroup& operator=(const ThreadGroup&) = delete;

    std::unique_ptr<Communicator> communicator(int rank) override;
    int size() const override { return m_ranks; }

    /// Wakes every waiting rank; the first reason is kept.
    void abort(const std::string& why) noexcept override;
    bool aborted() const noexcept override { return m_aborted.load(std::memory_order_acquire); }
    std::string reason() const override;
    /// The ranks that a time-out waited for in vain; empty where none happened.
    std::vector<int> missing() const override;

private:
    friend class ThreadCommunicator;

    /// A group of some ranks of `parent`.
    ThreadGroup(ThreadGroup& parent, std::vector<int> names);

    enum class Operation : std::uint8_t {
        AllGather,
        ReduceScatter,
        AllReduceSum,
        AllReduceMax,
        Broadcast,
        Barrier
    };
    struct Call {
        Operation operation = Operation::Barrier;
        WireType type = WireType::U8;
        std::size_t count = 0;
        int root = -1;
        bool operator==(const Call&) const = default;
    };
    struct alignas(64) Slot {
        const void* memory = nullptr;
        Call call;
        std::atomic<std::uint64_t> arrivals{0};
    };
    enum class Gate { Entry, Inside };

    static std::string describe(const Call& call);
    void enter(int rank, const void* memory, const Call& call);
    void leave(int rank) { wait(rank, Gate::Inside); }
    void wait(int rank, Gate gate);
    void sleep(int rank, Gate gate, std::uint64_t generation);
    void openGate(Gate gate, std::uint64_t generation);
    void giveUp(int rank);
    /// Adds the ranks that `rank` waits for here; where one of them waits elsewhere, those that it waits for.
    void addMissing(int rank, int depth, std::vector<int>& names);
    /// The group of those ranks that name the same colour, made by the first of them that asks.
    ThreadGroup& within(std::uint64_t call, const std::vector<int>& members);
    void end(const std::string& why, const std::vector<int>& missing) noexcept;
    ThreadGroup& top() { return m_parent ? m_parent->top() : *this; }
    void endAll(const std::string& why, const std::vector<int>& missing) noexcept;
    void checkSameCall(int rank);
    [[noreturn]] void fail(int rank) const;

    ThreadGroup* const m_parent;
    const std::vector<int> m_names; ///< What its ranks are called in the top group.
    const int m_ranks;
    const std::chrono::milliseconds m_timeout;
    const int m_spins;
    std::vector<Slot> m_slots;
    std::atomic<int> m_arrived{0};
    std::atomic<std::uint64_t> m_generation{0};
    std::array<std::atomic<bool>, 2> m_refused{false, false}; ///< By parity of the generation.
    std::atomic<bool> m_aborted{false};
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::string m_reason;
    std::vector<int> m_missing;
    std::vector<std::atomic<ThreadGroup*>> m_waiting; ///< Of the top group: where each rank waits.
    std::map<std::pair<std::uint64_t, std::vector<int>>, std::unique_ptr<ThreadGroup>> m_within;
};

} // namespace mantissa
