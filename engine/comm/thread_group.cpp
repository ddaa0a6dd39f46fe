#include "engine/comm/thread_group.h"

#include "engine/comm/combine.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <thread>
#include <utility>

namespace mantissa {
namespace {

constexpr int kSpins = 2000;

int spinsFor(int ranks)
{
    // Spinning pays only while every rank has a core of its own; else it keeps the late rank from running.
    return ranks <= static_cast<int>(std::thread::hardware_concurrency()) ? kSpins : 0;
}

void relax()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

class Stopwatch {
public:
    explicit Stopwatch(double& seconds) : m_seconds(seconds) {}
    ~Stopwatch()
    {
        m_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    double& m_seconds;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

} // namespace

class ThreadCommunicator final : public Communicator {
public:
    ThreadCommunicator(ThreadGroup& group, int rank) : m_group(group), m_rank(rank) {}

    int rank() const override { return m_rank; }
    int size() const override { return m_group.m_ranks; }

    void allGather(const void* in, void* out, std::size_t count, WireType type) override
    {
        const Stopwatch watch(m_seconds);
        const std::size_t bytes = count * wireSize(type);
        m_group.enter(m_rank, in, {ThreadGroup::Operation::AllGather, type, count, -1});
        for (int k = 0; k < size() && bytes > 0; ++k) {
            const int from =
                (m_rank + k) % size(); // each starts with its own part, so that all read different memory
            auto* to = static_cast<char*>(out) + static_cast<std::size_t>(from) * bytes;
            if (memoryOf(from) != to)
                std::memcpy(to, memoryOf(from), bytes);
        }
        m_group.leave(m_rank);
    }

    void reduceScatter(const void* in, void* out, std::size_t count, WireType type) override
    {
        const Stopwatch watch(m_seconds);
        m_group.enter(m_rank, in, {ThreadGroup::Operation::ReduceScatter, type, count, -1});
        combine(type, ReduceOp::Sum, allMemory(), static_cast<std::size_t>(m_rank) * count, count, out);
        m_group.leave(m_rank);
    }

    void allReduce(void* buffer, std::size_t count, WireType type, ReduceOp op) override
    {
        const Stopwatch watch(m_seconds);
        const auto operation =
            op == ReduceOp::Sum ? ThreadGroup::Operation::AllReduceSum : ThreadGroup::Operation::AllReduceMax;
        m_group.enter(m_rank, buffer, {operation, type, count, -1});
        // Each rank combines its own slice in place, then fetches the others'.
        const auto [first, length] = slice(m_rank, count);
        combine(type, op, allMemory(), first, length, static_cast<char*>(buffer) + first * wireSize(type));
        m_group.leave(m_rank);
        for (int from = 0; from < size(); ++from)
            fetchSlice(from, buffer, count, type);
        m_group.leave(m_rank);
    }

    void broadcast(void* buffer, std::size_t bytes, int root) override
    {
        const Stopwatch watch(m_seconds);
        m_group.enter(m_rank, buffer, {ThreadGroup::Operation::Broadcast, WireType::U8, bytes, root});
        if (m_rank != root && bytes > 0)
            std::memcpy(buffer, memoryOf(root), bytes);
        m_group.leave(m_rank);
    }

    void barrier() override
    {
        const Stopwatch watch(m_seconds);
        m_group.enter(m_rank, nullptr, {});
        m_group.leave(m_rank);
    }

    void abort(const std::string& why) noexcept override { m_group.abort(why); }
    double takeSeconds() override { return std::exchange(m_seconds, 0.0); }

private:
    const void* memoryOf(int rank) const { return m_group.m_slots[static_cast<std::size_t>(rank)].memory; }

    const std::vector<const void*>& allMemory()
    {
        m_memory.clear();
        for (const auto& slot : m_group.m_slots)
            m_memory.push_back(slot.memory);
        return m_memory;
    }

    std::pair<std::size_t, std::size_t> slice(int rank, std::size_t count) const
    {
        const auto ranks = static_cast<std::size_t>(size());
        const std::size_t length = (count + ranks - 1) / ranks;
        const std::size_t first = std::min(count, static_cast<std::size_t>(rank) * length);
        return {first, std::min(length, count - first)};
    }

    void fetchSlice(int from, void* buffer, std::size_t count, WireType type) const
    {
        const auto [first, length] = slice(from, count);
        if (from == m_rank || length == 0)
            return;
        const std::size_t offset = first * wireSize(type);
        std::memcpy(static_cast<char*>(buffer) + offset, static_cast<const char*>(memoryOf(from)) + offset,
                    length * wireSize(type));
    }

    ThreadGroup& m_group;
    const int m_rank;
    double m_seconds = 0.0;
    std::vector<const void*> m_memory;
};

ThreadGroup::ThreadGroup(int ranks, std::chrono::milliseconds timeout)
    : m_ranks(ranks), m_timeout(timeout), m_spins(spinsFor(ranks)), m_slots(static_cast<std::size_t>(ranks))
{
    assert(ranks > 0);
}

ThreadGroup::~ThreadGroup() = default;

std::unique_ptr<Communicator> ThreadGroup::communicator(int rank)
{
    assert(rank >= 0 && rank < m_ranks);
    return std::make_unique<ThreadCommunicator>(*this, rank);
}

void ThreadGroup::abort(const std::string& why) noexcept
{
    const std::scoped_lock lock(m_mutex);
    if (!m_aborted.load()) {
        m_reason = why;
        m_aborted.store(true, std::memory_order_release);
    }
    m_changed.notify_all();
}

std::string ThreadGroup::reason() const
{
    const std::scoped_lock lock(m_mutex);
    return m_reason;
}

std::vector<int> ThreadGroup::missing() const
{
    const std::scoped_lock lock(m_mutex);
    return m_missing;
}

std::string ThreadGroup::describe(const Call& call)
{
    static constexpr std::array<const char*, 6> kNames = {
        "all-gather", "reduce-scatter", "all-reduce (sum)", "all-reduce (max)", "broadcast", "barrier"};
    std::string words = kNames[static_cast<std::size_t>(call.operation)];
    if (call.operation == Operation::Barrier)
        return words;
    words += " of " + std::to_string(call.count) + " " + std::string(wireName(call.type));
    return call.root < 0 ? words : words + " from rank " + std::to_string(call.root);
}

void ThreadGroup::enter(int rank, const void* memory, const Call& call)
{
    if (aborted())
        fail(rank);
    auto& slot = m_slots[static_cast<std::size_t>(rank)];
    slot.memory = memory;
    slot.call = call;
    wait(rank, Gate::Entry);
    checkSameCall(rank);
}

void ThreadGroup::wait(int rank, Gate gate)
{
    const std::uint64_t generation = m_generation.load(std::memory_order_acquire);
    m_slots[static_cast<std::size_t>(rank)].arrivals.fetch_add(1, std::memory_order_relaxed);
    if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_ranks) {
        openGate(gate, generation);
    } else {
        for (int spin = 0; spin < m_spins && m_generation.load(std::memory_order_acquire) == generation;
             ++spin)
            relax();
        if (m_generation.load(std::memory_order_acquire) == generation)
            sleep(rank, gate, generation);
    }
    const bool open = m_generation.load(std::memory_order_acquire) != generation;
    if (!open || m_refused[generation & 1U].load(std::memory_order_relaxed))
        fail(rank);
}

void ThreadGroup::openGate(Gate gate, std::uint64_t generation)
{
    m_arrived.store(0, std::memory_order_relaxed);
    const std::scoped_lock lock(m_mutex);
    m_refused[generation & 1U].store(gate == Gate::Entry && m_aborted.load(), std::memory_order_relaxed);
    m_generation.store(generation + 1, std::memory_order_release);
    m_changed.notify_all();
}

void ThreadGroup::sleep(int rank, Gate gate, std::uint64_t generation)
{
    std::unique_lock lock(m_mutex);
    const auto done = [&] {
        return m_generation.load() != generation || (gate == Gate::Entry && m_aborted.load());
    };
    if (gate == Gate::Inside)
        m_changed.wait(lock, done);
    else if (!m_changed.wait_for(lock, m_timeout, done))
        giveUp(rank);
}

// Called with the mutex held.
void ThreadGroup::giveUp(int rank)
{
    const auto& own = m_slots[static_cast<std::size_t>(rank)];
    std::string names;
    for (int other = 0; other < m_ranks; ++other) {
        if (m_slots[static_cast<std::size_t>(other)].arrivals.load() >= own.arrivals.load())
            continue;
        m_missing.push_back(other);
        names += (names.empty() ? "" : ", ") + std::to_string(other);
    }
    m_reason = "time-out after " + std::to_string(m_timeout.count()) + " ms in " + describe(own.call)
        + ": rank " + names + " did not arrive";
    m_aborted.store(true, std::memory_order_release);
    m_changed.notify_all();
}

// Every rank sees the same calls, so all of them fail together and none reads memory of the wrong size.
void ThreadGroup::checkSameCall(int rank)
{
    const auto& first = m_slots.front().call;
    for (int other = 1; other < m_ranks; ++other) {
        const auto& call = m_slots[static_cast<std::size_t>(other)].call;
        if (call == first)
            continue;
        abort("the ranks disagree on the collective: rank 0 called " + describe(first) + ", rank "
              + std::to_string(other) + " called " + describe(call));
        fail(rank);
    }
}

void ThreadGroup::fail(int rank) const
{
    throw CommError("rank " + std::to_string(rank) + ": " + reason());
}

} // namespace mantissa
