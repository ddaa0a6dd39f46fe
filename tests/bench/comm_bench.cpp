#include "tests/bench/measurements.h"
#include "tests/support/rank_threads.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

namespace mantissa::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFloats = std::size_t{4} << 20; // 16 MiB a rank: beyond the caches, below a big layer.
constexpr int kRounds = 10;

double seconds(Clock::time_point from)
{
    return std::chrono::duration<double>(Clock::now() - from).count();
}

struct Buffers {
    explicit Buffers(int ranks) : mine(kFloats, 1.0F), all(kFloats * static_cast<std::size_t>(ranks), 1.0F) {}
    std::vector<float> mine;
    std::vector<float> all;
};

using Collective = std::function<void(Communicator&, Buffers&)>;

struct Named {
    const char* name;
    Collective call;
};

const std::vector<Named>& collectives()
{
    static const std::vector<Named> kCollectives = {
        {"memcpy",
         [](Communicator&, Buffers& b) {
             std::memcpy(b.all.data(), b.mine.data(), kFloats * sizeof(float));
         }},
        {"all_gather",
         [](Communicator& c, Buffers& b) {
             c.allGather(b.mine.data(), b.all.data(), kFloats, WireType::F32);
         }},
        {"reduce_scatter",
         [](Communicator& c, Buffers& b) {
             c.reduceScatter(b.all.data(), b.mine.data(), kFloats, WireType::F32);
         }},
        {"all_reduce",
         [](Communicator& c, Buffers& b) {
             c.allReduce(b.mine.data(), kFloats, WireType::F32, ReduceOp::Sum);
         }},
    };
    return kCollectives;
}

/// The bytes that a rank must at least read from others or write for itself.
double bytesMoved(const std::string& name, int ranks)
{
    const double part = static_cast<double>(kFloats) * sizeof(float);
    return name == "memcpy" || name == "all_reduce" ? part : part * ranks;
}

} // namespace

std::vector<Json> measureCollectives(const BenchCase& bench)
{
    std::vector<double> best(collectives().size(), 1e30);
    runRanks(bench.ranks, [&](Communicator& comm) {
        Buffers buffers(comm.size());
        for (std::size_t i = 0; i < collectives().size(); ++i) {
            for (int round = 0; round < kRounds; ++round) {
                comm.barrier();
                const auto began = Clock::now();
                collectives()[i].call(comm, buffers);
                comm.barrier();
                if (comm.rank() == 0)
                    best[i] = std::min(best[i], seconds(began));
            }
        }
    });
    std::vector<Json> lines;
    const double copy = bytesMoved("memcpy", bench.ranks) / best[0] / 1e9;
    for (std::size_t i = 1; i < collectives().size(); ++i) {
        const std::string name = collectives()[i].name;
        lines.push_back({{"what", "comm"},
                         {"ranks", bench.ranks},
                         {"collective", name},
                         {"megabytes", kFloats * sizeof(float) >> 20},
                         {"gb_per_s", bytesMoved(name, bench.ranks) / best[i] / 1e9},
                         {"memcpy_gb_per_s", copy}});
    }
    return lines;
}

} // namespace mantissa::bench
