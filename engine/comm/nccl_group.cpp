#include "engine/comm/nccl_group.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

namespace mantissa {
namespace {

using Clock = std::chrono::steady_clock;

nccl::DataType dataType(WireType type)
{
    switch (type) {
    case WireType::F32:
        return nccl::kFloat32;
    case WireType::F64:
        return nccl::kFloat64;
    case WireType::BF16:
        return nccl::kBfloat16;
    case WireType::F16:
        return nccl::kFloat16;
    case WireType::I64:
        return nccl::kInt64;
    case WireType::U8:
        break;
    }
    return nccl::kUint8;
}

} // namespace

/// Memory of a rank's device, grown as needed and never shrunk.
class DeviceBuffer {
public:
    explicit DeviceBuffer(const NcclLibrary& library) : m_library(library) {}
    ~DeviceBuffer() { free(); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    void* ofAtLeast(std::size_t bytes)
    {
        if (bytes <= m_bytes)
            return m_memory;
        free();
        if (const auto status = m_library.call().cudaMalloc(&m_memory, bytes); status != nccl::kCudaSuccess)
            throw CommError(std::string("no memory on the GPU: ")
                            + m_library.call().cudaGetErrorString(status));
        m_bytes = bytes;
        return m_memory;
    }

private:
    void free()
    {
        if (m_memory)
            m_library.call().cudaFree(m_memory);
        m_memory = nullptr;
        m_bytes = 0;
    }

    const NcclLibrary& m_library;
    void* m_memory = nullptr;
    std::size_t m_bytes = 0;
};

class NcclCommunicator final : public Communicator {
public:
    /// `peers`: what its ranks are called in the group.
    NcclCommunicator(NcclGroup& group, int rank, std::vector<int> peers, std::shared_ptr<double> seconds)
        : m_group(group),
          m_library(*group.m_library),
          m_rank(rank),
          m_peers(std::move(peers)),
          m_seconds(std::move(seconds)),
          m_in(m_library),
          m_out(m_library)
    {
        requireCuda(call().cudaSetDevice(name()), "choosing a GPU");
        requireCuda(call().cudaStreamCreateWithFlags(&m_stream, nccl::kNonBlockingStream), "making a stream");
    }
    ~NcclCommunicator() override
    {
        disconnect();
        if (m_stream)
            call().cudaStreamDestroy(m_stream);
    }
    NcclCommunicator(const NcclCommunicator&) = delete;
    NcclCommunicator& operator=(const NcclCommunicator&) = delete;

    void connect()
    {
        nccl::Config config;
        begin("the meeting of the ranks");
        require(call().ncclCommInitRankConfig(&m_comm, size(), m_group.m_id, m_rank, &config));
        waitForNccl();
    }

    int rank() const override { return m_rank; }
    int size() const override { return static_cast<int>(m_peers.size()); }

    void allGather(const void* in, void* out, std::size_t count, WireType type) override
    {
        const std::size_t bytes = count * wireSize(type);
        run("all-gather", {in, bytes, out, bytes * m_peers.size()}, [&](const void* from, void* to) {
            return call().ncclAllGather(from, to, count, dataType(type), m_comm, m_stream);
        });
    }

    void reduceScatter(const void* in, void* out, std::size_t count, WireType type) override
    {
        const std::size_t bytes = count * wireSize(type);
        run("reduce-scatter", {in, bytes * m_peers.size(), out, bytes}, [&](const void* from, void* to) {
            return call().ncclReduceScatter(from, to, count, dataType(type), nccl::kSum, m_comm, m_stream);
        });
    }

    void allReduce(void* buffer, std::size_t count, WireType type, ReduceOp op) override
    {
        const std::size_t bytes = count * wireSize(type);
        const auto operation = op == ReduceOp::Sum ? nccl::kSum : nccl::kMax;
        run(op == ReduceOp::Sum ? "all-reduce (sum)" : "all-reduce (max)", {buffer, bytes, buffer, bytes},
            [&](const void* from, void* to) {
                return call().ncclAllReduce(from, to, count, dataType(type), operation, m_comm, m_stream);
            });
    }

    void broadcast(void* buffer, std::size_t bytes, int root) override
    {
        run("broadcast", {buffer, bytes, buffer, bytes}, [&](const void* from, void* to) {
            return call().ncclBroadcast(from, to, bytes, nccl::kUint8, root, m_comm, m_stream);
        });
    }

    void barrier() override
    {
        float nothing = 0.0F;
        run("barrier", {&nothing, sizeof nothing, &nothing, sizeof nothing}, [&](const void* from, void* to) {
            return call().ncclAllReduce(from, to, 1, nccl::kFloat32, nccl::kSum, m_comm, m_stream);
        });
    }

    std::unique_ptr<Communicator> split(int colour) override
    {
        std::vector<std::int64_t> colours(m_peers.size());
        const std::int64_t own = colour;
        allGather(&own, colours.data(), 1, WireType::I64);
        std::vector<int> peers;
        int place = 0;
        for (std::size_t other = 0; other < m_peers.size(); ++other) {
            if (static_cast<int>(other) == m_rank)
                place = static_cast<int>(peers.size());
            if (colours[other] == own)
                peers.push_back(m_peers[other]);
        }
        auto part = std::make_unique<NcclCommunicator>(m_group, place, std::move(peers), m_seconds);
        begin("split");
        part->m_until = m_until;
        nccl::Config config;
        require(call().ncclCommSplit(m_comm, colour, m_rank, &part->m_comm, &config));
        waitForNccl();
        part->waitForNccl();
        return part;
    }

    void abort(const std::string& why) noexcept override { m_group.abort(why); }
    double takeSeconds() override { return std::exchange(*m_seconds, 0.0); }

private:
    struct Transfer {
        const void* in;
        std::size_t inBytes;
        void* out;
        std::size_t outBytes;
    };

    const nccl::Functions& call() const { return m_library.call(); }
    int name() const { return m_peers[static_cast<std::size_t>(m_rank)]; }

    // An abort would end what other ranks still have under way, so it is kept for a run that has failed.
    void disconnect() noexcept
    {
        if (!m_comm)
            return;
        const auto until = Clock::now() + m_group.m_timeout;
        nccl::Status status = m_group.aborted() ? nccl::kInProgress : call().ncclCommFinalize(m_comm);
        while (status == nccl::kInProgress && !m_group.aborted() && Clock::now() < until) {
            std::this_thread::yield();
            if (call().ncclCommGetAsyncError(m_comm, &status) != nccl::kSuccess)
                break;
        }
        if (status == nccl::kSuccess)
            call().ncclCommDestroy(m_comm);
        else
            call().ncclCommAbort(m_comm);
    }

    template <typename Start>
    void run(const char* what, const Transfer& transfer, Start start)
    {
        const auto began = Clock::now();
        begin(what);
        if (transfer.outBytes > 0) {
            void* from = m_in.ofAtLeast(transfer.inBytes);
            void* to = m_out.ofAtLeast(transfer.outBytes);
            copy(from, transfer.in, transfer.inBytes);
            require(start(from, to));
            waitForNccl();
            copy(transfer.out, to, transfer.outBytes);
            waitForStream();
        }
        *m_seconds += std::chrono::duration<double>(Clock::now() - began).count();
    }

    void begin(const char* what)
    {
        if (m_group.aborted())
            fail();
        auto& calls = m_group.m_calls[static_cast<std::size_t>(name())];
        calls.name.store(what);
        calls.count.fetch_add(1);
        m_until = Clock::now() + m_group.m_timeout;
        requireCuda(call().cudaSetDevice(name()), "choosing the GPU");
    }

    void copy(void* to, const void* from, std::size_t bytes)
    {
        requireCuda(call().cudaMemcpyAsync(to, from, bytes, nccl::kCopyAnyWay, m_stream), "copying");
    }

    /// Until NCCL has taken the call; it does so in the background.
    void waitForNccl()
    {
        nccl::Status status = nccl::kInProgress;
        for (;;) {
            require(call().ncclCommGetAsyncError(m_comm, &status));
            if (status == nccl::kSuccess)
                return;
            require(status);
            pause();
        }
    }

    void waitForStream()
    {
        for (;;) {
            nccl::Status status = nccl::kSuccess;
            require(call().ncclCommGetAsyncError(m_comm, &status));
            require(status);
            const auto done = call().cudaStreamQuery(m_stream);
            if (done == nccl::kCudaSuccess)
                return;
            if (done != nccl::kCudaNotReady)
                requireCuda(done, "running");
            pause();
        }
    }

    void pause()
    {
        if (m_group.aborted())
            fail();
        if (Clock::now() >= m_until) {
            m_group.giveUp(name(), m_peers);
            fail();
        }
        std::this_thread::yield();
    }

    void require(nccl::Status status)
    {
        if (status == nccl::kSuccess || status == nccl::kInProgress)
            return;
        if (m_group.aborted())
            fail();
        std::string words = "NCCL: ";
        words += call().ncclGetErrorString(status);
        if (const char* last = call().ncclGetLastError(m_comm); last && *last)
            words += std::string(" (") + last + ")";
        stop(words);
    }

    void requireCuda(nccl::CudaStatus status, const char* doing)
    {
        if (status != nccl::kCudaSuccess)
            stop(std::string("CUDA, ") + doing + ": " + call().cudaGetErrorString(status));
    }

    [[noreturn]] void stop(const std::string& why)
    {
        const auto& calls = m_group.m_calls[static_cast<std::size_t>(name())];
        m_group.abort("rank " + std::to_string(name()) + " in " + calls.name.load() + ": " + why);
        fail();
    }

    // The one way out of a call that failed: what NCCL still has under way ends with its communicator.
    [[noreturn]] void fail()
    {
        if (auto comm = std::exchange(m_comm, nullptr))
            call().ncclCommAbort(comm);
        throw CommError("rank " + std::to_string(name()) + ": " + m_group.reason());
    }

    NcclGroup& m_group;
    const NcclLibrary& m_library;
    const int m_rank;
    const std::vector<int> m_peers;
    std::shared_ptr<double> m_seconds; ///< Of this rank's thread, shared with its splits.
    nccl::Comm m_comm = nullptr;
    nccl::Stream m_stream = nullptr;
    DeviceBuffer m_in;
    DeviceBuffer m_out;
    Clock::time_point m_until;
};

Result<std::unique_ptr<NcclGroup>> NcclGroup::make(std::shared_ptr<const NcclLibrary> library, int ranks,
                                                   std::chrono::milliseconds timeout)
{
    if (library->gpus() < ranks)
        return Error{ErrorCode::NotHere,
                     "NCCL needs a GPU for each rank: there are " + std::to_string(ranks) + " ranks and "
                         + std::to_string(library->gpus()) + " here.",
                     "Lower mantissa.ranks, or set mantissa.communicator to threads."};
    nccl::UniqueId id{};
    if (const auto status = library->call().ncclGetUniqueId(&id); status != nccl::kSuccess)
        return Error{ErrorCode::RankLost,
                     std::string("NCCL cannot begin: ") + library->call().ncclGetErrorString(status) + ".",
                     "Set mantissa.communicator to threads."};
    return std::unique_ptr<NcclGroup>(new NcclGroup(std::move(library), ranks, timeout, id));
}

NcclGroup::NcclGroup(std::shared_ptr<const NcclLibrary> library, int ranks, std::chrono::milliseconds timeout,
                     nccl::UniqueId id)
    : m_library(std::move(library)), m_timeout(timeout), m_id(id), m_calls(static_cast<std::size_t>(ranks))
{
}

std::unique_ptr<Communicator> NcclGroup::communicator(int rank)
{
    std::vector<int> peers(m_calls.size());
    std::iota(peers.begin(), peers.end(), 0);
    auto communicator =
        std::make_unique<NcclCommunicator>(*this, rank, std::move(peers), std::make_shared<double>(0.0));
    communicator->connect();
    return communicator;
}

void NcclGroup::end(const std::string& why, const std::vector<int>& missing) noexcept
{
    const std::scoped_lock lock(m_mutex);
    if (m_aborted.load())
        return;
    m_reason = why;
    m_missing = missing;
    m_aborted.store(true, std::memory_order_release);
}

void NcclGroup::giveUp(int rank, const std::vector<int>& peers)
{
    const auto& own = m_calls[static_cast<std::size_t>(rank)];
    std::vector<int> missing;
    std::string names;
    for (const int peer : peers) {
        if (m_calls[static_cast<std::size_t>(peer)].count.load() >= own.count.load())
            continue;
        missing.push_back(peer);
        names += (names.empty() ? "" : ", ") + std::to_string(peer);
    }
    end("time-out after " + std::to_string(m_timeout.count()) + " ms in " + own.name.load() + ": "
            + (names.empty() ? "the ranks called different things" : "rank " + names + " did not arrive"),
        missing);
}

std::string NcclGroup::reason() const
{
    const std::scoped_lock lock(m_mutex);
    return m_reason;
}

std::vector<int> NcclGroup::missing() const
{
    const std::scoped_lock lock(m_mutex);
    return m_missing;
}

} // namespace mantissa
