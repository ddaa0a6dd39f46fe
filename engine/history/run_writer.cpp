#include "engine/history/run_writer.h"

#include "engine/core/guarded.h"
#include "engine/history/run_store.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace mantissa {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostQueued = 65'536;
constexpr auto kCommitEvery = 400ms; // A second is promised; a slow disk takes its share of it.
constexpr auto kRetryEvery = 2s;

class QueuedRunWriter final : public RunWriter {
public:
    explicit QueuedRunWriter(std::unique_ptr<RunStore> store)
        : m_id(store->id()), m_folder(store->folder()), m_store(std::move(store)), m_thread([this] { run(); })
    {
    }
    ~QueuedRunWriter() override { end(RunState::Interrupted, -1); }

    std::string id() const override { return m_id; }
    std::filesystem::path folder() const override { return m_folder; }

    void append(const std::vector<Sample>& samples) override
    {
        put([&](Batch& batch) { batch.samples.insert(batch.samples.end(), samples.begin(), samples.end()); });
    }
    void append(const RunEvent& event) override
    {
        put([&](Batch& batch) { batch.events.push_back(event); });
    }
    void append(const CheckpointRecord& checkpoint) override
    {
        put([&](Batch& batch) { batch.checkpoints.push_back(checkpoint); });
    }
    void append(const std::vector<TensorHistogram>& histograms) override
    {
        put([&](Batch& batch) {
            batch.histograms.insert(batch.histograms.end(), histograms.begin(), histograms.end());
        });
    }
    void setState(RunState state) override
    {
        {
            const std::scoped_lock lock(m_mutex);
            if (!m_ending)
                m_queue.state = state;
        }
        m_work.notify_one();
    }
    Result<void> finish(RunState state, std::int64_t lastStep) override
    {
        end(state, lastStep);
        return health();
    }
    Result<void> health() const override
    {
        const std::scoped_lock lock(m_mutex);
        return m_firstError ? Result<void>(*m_firstError) : Result<void>();
    }
    std::uint64_t lostCount() const override { return m_lost.load(); }

private:
    struct Batch {
        std::vector<Sample> samples;
        std::vector<RunEvent> events;
        std::vector<CheckpointRecord> checkpoints;
        std::vector<TensorHistogram> histograms;
        std::optional<RunState> state;
        std::size_t size() const
        {
            return samples.size() + events.size() + checkpoints.size() + histograms.size();
        }
    };
    struct Ending {
        RunState state;
        std::int64_t lastStep;
    };

    template <typename Put>
    void put(Put&& into)
    {
        std::unique_lock lock(m_mutex);
        m_room.wait(lock, [this] { return m_queue.size() < kMostQueued || m_ending; });
        if (m_ending)
            return;
        into(m_queue);
        if (m_queue.size() >= kMostQueued / 2)
            m_work.notify_one();
    }

    void end(RunState state, std::int64_t lastStep)
    {
        {
            const std::scoped_lock lock(m_mutex);
            if (!m_ending)
                m_ending = Ending{state, lastStep};
        }
        m_work.notify_one();
        m_room.notify_all();
        const std::scoped_lock joining(m_joining);
        if (m_thread.joinable())
            m_thread.join();
    }

    void run()
    {
        for (bool ended = false; !ended;) {
            auto [batch, ending] = take();
            const auto result =
                guarded("writing the history", [&] { return write(std::move(batch), ending); });
            if (!result)
                remember(result.error());
            m_lost.store(m_store->lostCount());
            ended = ending.has_value();
        }
    }

    std::pair<Batch, std::optional<Ending>> take()
    {
        std::unique_lock lock(m_mutex);
        m_work.wait_for(lock, kCommitEvery,
                        [this] { return m_ending || m_queue.state || m_queue.size() >= kMostQueued / 2; });
        std::pair taken(std::exchange(m_queue, {}), m_ending);
        lock.unlock();
        m_room.notify_all();
        return taken;
    }

    Result<void> write(Batch batch, const std::optional<Ending>& ending)
    {
        m_store->add(batch.samples);
        for (auto& event : batch.events)
            m_store->add(std::move(event));
        for (auto& checkpoint : batch.checkpoints)
            m_store->add(std::move(checkpoint));
        m_store->add(std::move(batch.histograms));
        if (batch.state)
            m_store->setState(*batch.state);
        if (ending)
            return m_store->close(ending->state, ending->lastStep);
        if (std::chrono::steady_clock::now() < m_notBefore)
            return {};
        const auto committed = m_store->commit();
        m_notBefore = committed ? std::chrono::steady_clock::time_point()
                                : std::chrono::steady_clock::now() + kRetryEvery;
        return committed;
    }

    void remember(const Error& error)
    {
        const std::scoped_lock lock(m_mutex);
        if (!m_firstError)
            m_firstError = error;
    }

    const std::string m_id;
    const std::filesystem::path m_folder;
    std::unique_ptr<RunStore> m_store; ///< The writing thread's alone.
    std::chrono::steady_clock::time_point m_notBefore;

    mutable std::mutex m_mutex;
    std::condition_variable m_work;
    std::condition_variable m_room;
    Batch m_queue;
    std::optional<Ending> m_ending;
    std::optional<Error> m_firstError;
    std::atomic<std::uint64_t> m_lost{0};

    std::mutex m_joining;
    std::thread m_thread;
};

} // namespace

Result<std::unique_ptr<RunWriter>> RunWriter::create(const RunStart& start)
{
    using Made = Result<std::unique_ptr<RunWriter>>;
    return guarded("making the run's folder", [&]() -> Made {
        auto store = RunStore::create(start);
        if (!store)
            return store.error();
        return std::unique_ptr<RunWriter>(std::make_unique<QueuedRunWriter>(std::move(*store)));
    });
}

} // namespace mantissa
