#include "tests/support/stand_in_nccl.h"

#include "engine/comm/nccl_abi.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

// NCCL and the CUDA runtime on the memory of the host, for tests alone: streams are queues that move on when
// they are asked, collectives wait for all ranks, and faults come on demand.
namespace {

using namespace mantissa::nccl;

struct Fault {
    Status now = kSuccess;
    Status later = kSuccess;
};

/// Ranks that called the same collective.
struct Meeting {
    std::vector<std::function<void()>> arrived; ///< By rank; empty: not yet.
    std::vector<const void*> in;
    std::vector<void*> out;
    int present = 0;
    bool done = false;
};

struct World {
    int ranks = 0;
    int joined = 0;
    std::vector<int> names;
    std::map<std::uint64_t, Meeting> meetings;
    std::map<std::pair<std::uint64_t, int>, std::shared_ptr<World>> splits;
    std::map<std::uint64_t, int> splitting; ///< Ranks that have called each split.
    bool aborted = false; ///< A rank has gone, and its memory with it: nothing more happens.
};

struct State {
    std::mutex mutex;
    int gpus = 8;
    std::uint64_t ids = 0;
    std::map<std::uint64_t, std::shared_ptr<World>> worlds;
    std::map<std::pair<int, int>, Fault> faults;
    std::map<int, int> calls; ///< Collectives so far, by rank.
    std::set<void*> communicators;
    std::vector<std::shared_ptr<OpaqueComm>> made; ///< Destroyed ones too: tasks may still point to them.
    std::set<void*> buffers;
};

State& state()
{
    static State it;
    return it;
}

thread_local int t_device = 0;

std::size_t sizeOf(DataType type)
{
    return type == kFloat64 || type == kInt64 ? 8 : type == kFloat32 ? 4 : type == kUint8 ? 1 : 2;
}

float widen(std::uint16_t bits, DataType type)
{
    std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16U;
    if (type == kFloat16) // normal numbers are all that the tests send
        wide = (static_cast<std::uint32_t>(bits & 0x8000U) << 16U)
            | ((bits & 0x7fffU) == 0 ? 0U
                                     : (static_cast<std::uint32_t>(bits & 0x7fffU) << 13U) + (112U << 23U));
    float value = 0.0F;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

std::uint16_t narrow(float value, DataType type)
{
    std::uint32_t wide = 0;
    std::memcpy(&wide, &value, sizeof wide);
    if (type == kBfloat16)
        return static_cast<std::uint16_t>((wide + 0x7fffU + ((wide >> 16U) & 1U)) >> 16U);
    const std::uint32_t magnitude = wide & 0x7fffffffU;
    const std::uint32_t half =
        magnitude == 0 ? 0U : (magnitude + 0xfffU + ((magnitude >> 13U) & 1U) - (112U << 23U)) >> 13U;
    return static_cast<std::uint16_t>(((wide >> 16U) & 0x8000U) | half);
}

template <typename Element>
void combine(const std::vector<const void*>& in, std::size_t first, std::size_t count, Operation op,
             void* out)
{
    std::vector<Element> sum(count);
    for (std::size_t i = 0; i < count; ++i) {
        sum[i] = static_cast<const Element*>(in[0])[first + i];
        for (std::size_t rank = 1; rank < in.size(); ++rank) {
            const Element value = static_cast<const Element*>(in[rank])[first + i];
            sum[i] = op == kSum ? static_cast<Element>(sum[i] + value) : std::max(sum[i], value);
        }
    }
    std::memcpy(out, sum.data(), count * sizeof(Element));
}

void combineHalf(const std::vector<const void*>& in, std::size_t first, std::size_t count, Operation op,
                 DataType type, void* out)
{
    std::vector<std::uint16_t> sum(count);
    for (std::size_t i = 0; i < count; ++i) {
        float value = widen(static_cast<const std::uint16_t*>(in[0])[first + i], type);
        for (std::size_t rank = 1; rank < in.size(); ++rank) {
            const float other = widen(static_cast<const std::uint16_t*>(in[rank])[first + i], type);
            value = op == kSum ? value + other : std::max(value, other);
        }
        sum[i] = narrow(value, type);
    }
    std::memcpy(out, sum.data(), count * 2);
}

void combineAny(const std::vector<const void*>& in, std::size_t first, std::size_t count, DataType type,
                Operation op, void* out)
{
    if (type == kFloat32)
        combine<float>(in, first, count, op, out);
    else if (type == kFloat64)
        combine<double>(in, first, count, op, out);
    else if (type == kInt64)
        combine<std::int64_t>(in, first, count, op, out);
    else if (type == kUint8)
        combine<std::uint8_t>(in, first, count, op, out);
    else
        combineHalf(in, first, count, op, type, out);
}

/// A collective once all ranks are there: writes every rank's result.
using Action = std::function<void(const std::vector<const void*>& in, const std::vector<void*>& out)>;

} // namespace

namespace mantissa::nccl {

struct OpaqueComm {
    std::shared_ptr<World> world;
    int rank = 0;
    std::uint64_t next = 0;
    std::uint64_t splits = 0;
    Status background = kSuccess;
    bool meeting = false; ///< Until all ranks have joined.
    int splitName = -1; ///< Of a split whose ranks are not all there yet.
    int name() const { return world->names[static_cast<std::size_t>(rank)]; }
};

/// Tasks in order; one that is not done yet says false.
struct OpaqueStream {
    std::deque<std::function<bool()>> tasks;
};

} // namespace mantissa::nccl

namespace {

Comm keep(OpaqueComm comm)
{
    state().made.push_back(std::make_shared<OpaqueComm>(std::move(comm)));
    return state().made.back().get();
}

Status collective(Comm comm, Stream stream, const void* in, void* out, Action action)
{
    const std::scoped_lock lock(state().mutex);
    const auto fault = state().faults[{comm->name(), state().calls[comm->name()]++}];
    if (fault.now != kSuccess)
        return fault.now;
    if (fault.later != kSuccess)
        comm->background = fault.later;
    const std::uint64_t number = comm->next++;
    stream->tasks.push_back([comm, number, in, out, action, here = false]() mutable {
        if (comm->world->aborted)
            return false;
        auto& meeting = comm->world->meetings[number];
        if (!here) {
            here = true;
            meeting.in.resize(static_cast<std::size_t>(comm->world->ranks));
            meeting.out.resize(static_cast<std::size_t>(comm->world->ranks));
            meeting.in[static_cast<std::size_t>(comm->rank)] = in;
            meeting.out[static_cast<std::size_t>(comm->rank)] = out;
            if (++meeting.present == comm->world->ranks) {
                action(meeting.in, meeting.out);
                meeting.done = true;
            }
        }
        return meeting.done;
    });
    return kSuccess;
}

std::shared_ptr<World> worldOf(int ranks, std::vector<int> names)
{
    auto world = std::make_shared<World>();
    world->ranks = ranks;
    world->names = std::move(names);
    return world;
}

void reset(int gpus)
{
    const std::scoped_lock lock(state().mutex);
    state().gpus = gpus;
    state().faults.clear();
    state().calls.clear();
}
void failAt(int rank, int call, int status)
{
    const std::scoped_lock lock(state().mutex);
    state().faults[{rank, call}].now = status;
}
void failLater(int rank, int call, int status)
{
    const std::scoped_lock lock(state().mutex);
    state().faults[{rank, call}].later = status;
}
int communicators()
{
    const std::scoped_lock lock(state().mutex);
    return static_cast<int>(state().communicators.size());
}
int buffers()
{
    const std::scoped_lock lock(state().mutex);
    return static_cast<int>(state().buffers.size());
}

} // namespace

extern "C" {

StandIn standIn()
{
    return {reset, failAt, failLater, communicators, buffers};
}

Status ncclGetVersion(int* version)
{
    *version = 22809;
    return kSuccess;
}
Status ncclGetUniqueId(UniqueId* id)
{
    const std::scoped_lock lock(state().mutex);
    const std::uint64_t number = ++state().ids;
    std::memset(id->bytes, 0, sizeof id->bytes);
    std::memcpy(id->bytes, &number, sizeof number);
    return kSuccess;
}
Status ncclCommInitRankConfig(Comm* comm, int ranks, UniqueId id, int rank, Config* config)
{
    const std::scoped_lock lock(state().mutex);
    if (config->magic != 0xcafebeef || config->size != sizeof(Config) || config->blocking != 0)
        return 4;
    std::uint64_t number = 0;
    std::memcpy(&number, id.bytes, sizeof number);
    auto& world = state().worlds[number];
    if (!world) {
        std::vector<int> names(static_cast<std::size_t>(ranks));
        for (int i = 0; i < ranks; ++i)
            names[static_cast<std::size_t>(i)] = i;
        world = worldOf(ranks, std::move(names));
    }
    ++world->joined;
    *comm = keep(OpaqueComm{world, rank, 0, 0, kSuccess, true, -1});
    state().communicators.insert(*comm);
    return kInProgress;
}
Status ncclCommSplit(Comm comm, int colour, int, Comm* part, Config*)
{
    const std::scoped_lock lock(state().mutex);
    const std::pair key(comm->splits++, colour);
    auto& world = comm->world->splits[key];
    if (!world)
        world = worldOf(0, {});
    world->names.push_back(comm->name());
    std::sort(world->names.begin(), world->names.end());
    *part = keep(OpaqueComm{world, 0, 0, 0, kSuccess, true, comm->name()});
    state().communicators.insert(*part);
    if (++comm->world->splitting[key.first] < comm->world->ranks)
        return kInProgress;
    for (auto& [other, split] : comm->world->splits) {
        if (other.first == key.first)
            split->ranks = split->joined = static_cast<int>(split->names.size());
    }
    return kInProgress;
}
Status ncclCommGetAsyncError(Comm comm, Status* status)
{
    const std::scoped_lock lock(state().mutex);
    *status = comm->background;
    if (!comm->meeting || comm->background != kSuccess)
        return kSuccess;
    const auto& names = comm->world->names;
    comm->meeting = comm->world->ranks == 0 || comm->world->joined < comm->world->ranks;
    if (comm->meeting)
        *status = kInProgress;
    else if (comm->splitName >= 0)
        comm->rank = static_cast<int>(std::find(names.begin(), names.end(), comm->splitName) - names.begin());
    return kSuccess;
}
Status ncclCommFinalize(Comm)
{
    return kSuccess;
}
Status ncclCommDestroy(Comm comm)
{
    const std::scoped_lock lock(state().mutex);
    state().communicators.erase(comm);
    return kSuccess;
}
Status ncclCommAbort(Comm comm)
{
    const std::scoped_lock lock(state().mutex);
    state().communicators.erase(comm);
    comm->world->aborted = true;
    return kSuccess;
}
const char* ncclGetErrorString(Status status)
{
    return status == 6 ? "remote process exited" : status == 2 ? "system error" : "some error";
}
const char* ncclGetLastError(Comm)
{
    return "injected by a test";
}
Status ncclAllGather(const void* in, void* out, std::size_t count, DataType type, Comm comm, Stream stream)
{
    const std::size_t bytes = count * sizeOf(type);
    return collective(comm, stream, in, out, [bytes](const auto& from, const auto& to) {
        for (void* target : to)
            for (std::size_t rank = 0; rank < from.size(); ++rank)
                std::memmove(static_cast<char*>(target) + rank * bytes, from[rank], bytes);
    });
}
Status ncclReduceScatter(const void* in, void* out, std::size_t count, DataType type, Operation op, Comm comm,
                         Stream stream)
{
    return collective(comm, stream, in, out, [=](const auto& from, const auto& to) {
        for (std::size_t rank = 0; rank < to.size(); ++rank)
            combineAny(from, rank * count, count, type, op, to[rank]);
    });
}
Status ncclAllReduce(const void* in, void* out, std::size_t count, DataType type, Operation op, Comm comm,
                     Stream stream)
{
    return collective(comm, stream, in, out, [=](const auto& from, const auto& to) {
        std::vector<char> sum(count * sizeOf(type));
        combineAny(from, 0, count, type, op, sum.data());
        for (void* target : to)
            std::memcpy(target, sum.data(), sum.size());
    });
}
Status ncclBroadcast(const void* in, void* out, std::size_t count, DataType type, int root, Comm comm,
                     Stream stream)
{
    const std::size_t bytes = count * sizeOf(type);
    return collective(comm, stream, in, out, [=](const auto& from, const auto& to) {
        for (void* target : to)
            std::memmove(target, from[static_cast<std::size_t>(root)], bytes);
    });
}
CudaStatus cudaGetDeviceCount(int* count)
{
    const std::scoped_lock lock(state().mutex);
    *count = state().gpus;
    return kCudaSuccess;
}
CudaStatus cudaSetDevice(int device)
{
    const std::scoped_lock lock(state().mutex);
    t_device = device;
    return device < state().gpus ? kCudaSuccess : 101;
}
CudaStatus cudaStreamCreateWithFlags(Stream* stream, unsigned int)
{
    *stream = new OpaqueStream;
    return kCudaSuccess;
}
CudaStatus cudaStreamDestroy(Stream stream)
{
    const std::scoped_lock lock(state().mutex);
    delete stream;
    return kCudaSuccess;
}
CudaStatus cudaStreamQuery(Stream stream)
{
    const std::scoped_lock lock(state().mutex);
    while (!stream->tasks.empty() && stream->tasks.front()())
        stream->tasks.pop_front();
    return stream->tasks.empty() ? kCudaSuccess : kCudaNotReady;
}
CudaStatus cudaMalloc(void** memory, std::size_t bytes)
{
    const std::scoped_lock lock(state().mutex);
    *memory = std::malloc(bytes);
    state().buffers.insert(*memory);
    return kCudaSuccess;
}
CudaStatus cudaFree(void* memory)
{
    const std::scoped_lock lock(state().mutex);
    state().buffers.erase(memory);
    std::free(memory);
    return kCudaSuccess;
}
CudaStatus cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, Stream stream)
{
    const std::scoped_lock lock(state().mutex);
    stream->tasks.emplace_back([=] {
        std::memcpy(to, from, bytes);
        return true;
    });
    return kCudaSuccess;
}
const char* cudaGetErrorString(CudaStatus)
{
    return "injected by a test";
}
}
