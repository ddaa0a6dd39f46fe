#include "engine/data/loader.h"

#include "engine/tensor/guarded_torch.h"

#include <algorithm>
#include <stdexcept>

namespace mantissa {
namespace {

constexpr std::size_t kAhead = 8; // Batches ready for each rank.
constexpr std::size_t kLow =
    kAhead / 2; // Waking the thread for every batch costs small models a tenth of the step.

} // namespace

Loader::Loader(std::shared_ptr<const DataSet> data, const Sampler& sampler, int ranks)
    : m_data(std::move(data)), m_sampler(sampler), m_lanes(static_cast<std::size_t>(ranks)), m_thread([this] {
          const auto done = guardedTorch("loading data", [this]() -> Result<void> {
              run();
              return {};
          });
          if (!done)
              close(done.error().message);
      })
{
}

Loader::~Loader()
{
    close("the run is over");
    m_thread.join();
}

void Loader::close(const std::string& why)
{
    const std::scoped_lock lock(m_mutex);
    if (m_closed.empty())
        m_closed = why;
    m_changed.notify_all();
}

BatchPlace Loader::after(BatchPlace place) const
{
    return place.batch + 1 < batchesPerEpoch() ? BatchPlace{place.epoch, place.batch + 1}
                                               : BatchPlace{place.epoch + 1, 0};
}

int Loader::hungryLane() const
{
    int best = -1;
    for (std::size_t rank = 0; rank < m_lanes.size(); ++rank) {
        const std::size_t has = m_lanes[rank].ready.size();
        if (has < kAhead && (best < 0 || has < m_lanes[static_cast<std::size_t>(best)].ready.size()))
            best = static_cast<int>(rank);
    }
    return best;
}

bool Loader::runsLow() const
{
    return std::any_of(m_lanes.begin(), m_lanes.end(),
                       [](const Lane& lane) { return lane.ready.size() <= kLow; });
}

void Loader::run()
{
    std::vector<std::int64_t> order;
    std::int64_t orderOf = -1;
    std::unique_lock lock(m_mutex);
    while (true) {
        if (hungryLane() < 0)
            m_changed.wait(lock, [&] { return !m_closed.empty() || runsLow(); });
        if (!m_closed.empty())
            return;
        const int rank = hungryLane();
        Lane& lane = m_lanes[static_cast<std::size_t>(rank)];
        const BatchPlace place = lane.upcoming;
        const std::uint64_t generation = lane.generation;
        lock.unlock();
        if (orderOf != place.epoch) {
            order = m_sampler.order(place.epoch);
            orderOf = place.epoch;
        }
        Batch batch = m_data->take(m_sampler.rows(order, place.batch, rank));
        lock.lock();
        if (lane.generation == generation) {
            lane.ready.push_back(std::move(batch));
            lane.upcoming = after(place);
            if (lane.ready.size() == 1)
                m_changed.notify_all();
        }
    }
}

Batch Loader::next(int rank)
{
    std::unique_lock lock(m_mutex);
    Lane& lane = m_lanes[static_cast<std::size_t>(rank)];
    m_changed.wait(lock, [&] { return !m_closed.empty() || !lane.ready.empty(); });
    if (lane.ready.empty())
        throw std::runtime_error(m_closed);
    Batch batch = std::move(lane.ready.front());
    lane.ready.pop_front();
    if (lane.ready.size() == kLow)
        m_changed.notify_all();
    return batch;
}

void Loader::seek(int rank, BatchPlace place)
{
    const std::scoped_lock lock(m_mutex);
    Lane& lane = m_lanes[static_cast<std::size_t>(rank)];
    lane.ready.clear();
    lane.upcoming = place;
    ++lane.generation;
    m_changed.notify_all();
}

} // namespace mantissa
