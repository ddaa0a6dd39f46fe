#pragma once

#include "engine/data/data_set.h"
#include "engine/data/sampler.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mantissa {

/// Which batch of which epoch.
struct BatchPlace {
    std::int64_t epoch = 0;
    std::int64_t batch = 0;
};

/// Prepares the batches of all ranks on a thread of its own, a few ahead. next() of one rank is called from
/// that rank's thread.
class Loader {
public:
    Loader(std::shared_ptr<const DataSet> data, const Sampler& sampler, int ranks);
    ~Loader();
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    std::int64_t batchesPerEpoch() const { return m_sampler.batchesPerEpoch(); }

    /// The rank's next batch; waits for it. Throws when the loader failed or was closed.
    Batch next(int rank);
    /// The rank goes on from here.
    void seek(int rank, BatchPlace place);
    /// Wakes all who wait.
    void close(const std::string& why);

private:
    struct Lane {
        BatchPlace upcoming; ///< What the thread prepares next for this rank.
        std::deque<Batch> ready;
        std::uint64_t generation = 0; ///< Counts seeks: a batch prepared for an older one is thrown away.
    };

    void run();
    int hungryLane() const; ///< The emptiest; -1: all are full.
    bool runsLow() const; ///< Some lane is down to half.
    BatchPlace after(BatchPlace place) const;

    const std::shared_ptr<const DataSet> m_data;
    const Sampler m_sampler;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<Lane> m_lanes;
    std::string m_closed; ///< Not empty: why.
    std::thread m_thread; // Last: it uses everything above.
};

} // namespace mantissa
