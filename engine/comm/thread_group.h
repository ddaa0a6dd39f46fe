#pragma once

#include "engine/comm/communicator.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mantissa {

/// Where the rank threads of one process meet. Outlives its communicators. abort(), aborted() and reason()
/// may be called from any thread, everything else from the rank's own.
///
/// A collective may only fail on entry, and there the last rank to arrive decides for all: a rank that left
/// while others still read its memory would free it under them. Inside a collective there is nothing but
/// copying, so nobody waits long.
class ThreadGroup {
public:
    ThreadGroup(int ranks, std::chrono::milliseconds timeout);
    ~ThreadGroup();
    ThreadGroup(const ThreadGroup&) = delete;
    ThreadGroup& operator=(const ThreadGroup&) = delete;

    std::unique_ptr<Communicator> communicator(int rank);
    int size() const { return m_ranks; }

    /// Wakes every waiting rank; the first reason is kept.
    void abort(const std::string& why) noexcept;
    bool aborted() const noexcept { return m_aborted.load(std::memory_order_acquire); }
    std::string reason() const;
    /// The ranks that a time-out waited for in vain; empty where none happened.
    std::vector<int> missing() const;

private:
    friend class ThreadCommunicator;

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
    void checkSameCall(int rank);
    [[noreturn]] void fail(int rank) const;

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
};

} // namespace mantissa
