#include "engine/comm/thread_group.h"

#include "engine/comm/combine.h"
#include "engine/core/listed.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>
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
    ThreadCommunicator(ThreadGroup& group, int rank, std::shared_ptr<double> seconds)
        : m_group(group), m_rank(rank), m_time(std::move(seconds)), m_seconds(*m_time)
    {
    }

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

    std::unique_ptr<Communicator> split(int colour) override
    {
        std::vector<std::int64_t> colours(static_cast<std::size_t>(size()));
        const std::int64_t own = colour;
        allGather(&own, colours.data(), 1, WireType::I64);
        std::vector<int> members;
        int place = 0;
        for (int rank = 0; rank < size(); ++rank) {
            if (colours[static_cast<std::size_t>(rank)] != own)
                continue;
            if (rank == m_rank)
                place = static_cast<int>(members.size());
            members.push_back(rank);
        }
        auto& group = m_group.within(m_splits++, members);
        return std::make_unique<ThreadCommunicator>(group, place, m_time);
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
    std::shared_ptr<double> m_time; ///< Of this rank's thread, shared with its splits.
    double& m_seconds;
    std::uint64_t m_splits = 0;
    std::vector<const void*> m_memory;
};

namespace {

std::vector<int> countingUp(int ranks)
{
    std::vector<int> names(static_cast<std::size_t>(ranks));
    std::iota(names.begin(), names.end(), 0);
    return names;
}

} // namespace

ThreadGroup::ThreadGroup(int ranks, std::chrono::milliseconds timeout)
    : m_parent(nullptr),
      m_names(countingUp(ranks)),
      m_ranks(ranks),
      m_timeout(timeout),
      m_spins(spinsFor(ranks)),
      m_slots(static_cast<std::size_t>(ranks)),
      m_waiting(static_cast<std::size_t>(ranks))
{
    assert(ranks > 0);
}

ThreadGroup::ThreadGroup(ThreadGroup& parent, std::vector<int> names)
    : m_parent(&parent),
      m_names(std::move(names)),
      m_ranks(static_cast<int>(m_names.size())),
      m_timeout(parent.m_timeout),
      m_spins(parent.m_spins),
      m_slots(m_names.size())
{
}

ThreadGroup::~ThreadGroup() = default;

std::unique_ptr<Communicator> ThreadGroup::communicator(int rank)
{
    assert(rank >= 0 && rank < m_ranks);
    return std::make_unique<ThreadCommunicator>(*this, rank, std::make_shared<double>(0.0));
}

ThreadGroup& ThreadGroup::within(std::uint64_t call, const std::vector<int>& members)
{
    std::vector<int> names;
    for (const int member : members)
        names.push_back(m_names[static_cast<std::size_t>(member)]);
    const std::scoped_lock lock(m_mutex);
    auto& group = m_within[{call, members}];
    if (!group)
        group.reset(new ThreadGroup(*this, std::move(names))); // its constructor is private
    if (m_aborted.load())
        group->end(m_reason, {});
    return *group;
}

void ThreadGroup::abort(const std::string& why) noexcept
{
    top().endAll(why, {});
}

void ThreadGroup::end(const std::string& why, const std::vector<int>& missing) noexcept
{
    const std::scoped_lock lock(m_mutex);
    if (!m_aborted.load()) {
        m_reason = why;
        m_missing = missing;
        m_aborted.store(true, std::memory_order_release);
    }
    m_changed.notify_all();
}

// From the top down, one lock at a time in that order; a rank that gives up holds none.
void ThreadGroup::endAll(const std::string& why, const std::vector<int>& missing) noexcept
{
    end(why, missing);
    const std::scoped_lock lock(m_mutex);
    for (auto& [call, group] : m_within)
        group->endAll(why, missing);
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
        return m_changed.wait(lock, done);
    auto& waiting = top().m_waiting[static_cast<std::size_t>(m_names[static_cast<std::size_t>(rank)])];
    waiting.store(this);
    const bool came = m_changed.wait_for(lock, m_timeout, done);
    if (came) {
        waiting.store(nullptr);
        return;
    }
    giveUp(rank);
    const std::string why = m_reason;
    const std::vector<int> missing = m_missing;
    lock.unlock();
    top().endAll(why, missing);
    waiting.store(nullptr); // only now: others may still ask whom this rank waits for
}

void ThreadGroup::addMissing(int rank, int depth, std::vector<int>& names)
{
    const std::uint64_t own = m_slots[static_cast<std::size_t>(rank)].arrivals.load();
    for (int other = 0; other < m_ranks; ++other) {
        const auto place = static_cast<std::size_t>(other);
        if (m_slots[place].arrivals.load() >= own)
            continue;
        const int name = m_names[place];
        ThreadGroup* elsewhere = top().m_waiting[static_cast<std::size_t>(name)].load();
        const std::size_t before = names.size();
        if (elsewhere && elsewhere != this && depth < m_ranks) {
            const auto there = std::find(elsewhere->m_names.begin(), elsewhere->m_names.end(), name);
            elsewhere->addMissing(static_cast<int>(there - elsewhere->m_names.begin()), depth + 1, names);
        }
        if (names.size() == before && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
}

// Called with the mutex held.
void ThreadGroup::giveUp(int rank)
{
    addMissing(rank, 0, m_missing);
    const auto names = listed(m_missing, [](int name) { return std::to_string(name); });
    m_reason = "time-out after " + std::to_string(m_timeout.count()) + " ms in "
        + describe(m_slots[static_cast<std::size_t>(rank)].call) + ": rank " + names + " did not arrive";
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
        abort("the ranks disagree on the collective: rank " + std::to_string(m_names.front()) + " called "
              + describe(first) + ", rank " + std::to_string(m_names[static_cast<std::size_t>(other)])
              + " called " + describe(call));
        fail(rank);
    }
}

void ThreadGroup::fail(int rank) const
{
    throw CommError("rank " + std::to_string(m_names[static_cast<std::size_t>(rank)]) + ": " + reason());
}

} // namespace mantissa
