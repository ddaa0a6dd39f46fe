#pragma once

#include "engine/comm/rank_group.h"
#include "engine/train/rank_failure.h"
#include "engine/train/rank_training.h"
#include "engine/train/session_gate.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace mantissa {

/// What is alive in this process of its runs. Shared with rank threads, which may outlive their run.
struct EngineLoad {
    std::atomic<int> runs{0}; ///< That have not ended.
    std::atomic<int> ranks{0}; ///< Threads of ranks.
};

/// What the ranks of a run are to do. Values and shared owners only: a rank that never comes back may outlive
/// the session.
struct CrewOrders {
    int ranks = 1;
    std::chrono::milliseconds collectiveTimeout{
        60'000}; ///< How long a rank waits for the others inside a step.
    std::chrono::milliseconds patience{10'000}; ///< How long a rank may take to end after another has failed.
    std::shared_ptr<RankSource> source;
    std::shared_ptr<SessionGate> gate;
    std::function<void(int rank, const StepReport& report)> report; ///< On the rank's thread.
    bool wantsState = true; ///< After the last step.
    std::int64_t stateEvery = 0; ///< Steps between two states on the way; 0: none.
    std::function<void(int rank, std::int64_t stepsDone, TrainerState state)>
        keep; ///< … which go here, on the rank's thread.
    std::shared_ptr<EngineLoad> load = std::make_shared<EngineLoad>();
};

/// How a run's ranks came to their end.
struct CrewOutcome {
    std::optional<RankFailure> failure;
    bool stopped = false; ///< By a command, before the plan's end.
    bool closed = false; ///< Forced to end within a step.
    std::vector<int> stuck; ///< Ranks that still run: the process can only be left by _exit.
    std::vector<TrainerState> states; ///< By rank, after the last step; empty where there is none.
};

/// The rank threads of one run. start(), then waitForEnd(), on the session's thread; close() from any.
class RankCrew {
public:
    RankCrew(CrewOrders orders, std::shared_ptr<RankGroup> group);
    ~RankCrew(); ///< Only after waitForEnd().
    RankCrew(const RankCrew&) = delete;
    RankCrew& operator=(const RankCrew&) = delete;

    void start();
    CrewOutcome waitForEnd();

    void endStalls(); ///< Injected stalls end now.
    void close(
        std::chrono::steady_clock::time_point deadline); ///< Ranks that still run then are woken by an abort.

private:
    struct Rank {
        std::mutex mutex;
        std::unique_ptr<RankTraining> training;
        TrainerPlace place; ///< Once the training is gone.
        bool ended = false;
    };
    /// Shared with the rank threads, so that it lives as long as the last of them.
    struct Shared {
        Shared(CrewOrders given, std::shared_ptr<RankGroup> meeting);

        const CrewOrders orders;
        const std::shared_ptr<RankGroup> group; ///< Where the ranks meet.
        std::stop_source stalls;
        std::deque<Rank> ranks;
        std::mutex mutex;
        std::condition_variable changed;
        int running = 0;
        std::vector<RankFailure> failures;
        std::optional<std::chrono::steady_clock::time_point> endBy; ///< Once a rank has failed.
        std::optional<std::chrono::steady_clock::time_point> closeBy;
        bool stopped = false;
        bool closed = false;
        std::vector<std::optional<TrainerState>> states; ///< By rank.
    };

    static void runRank(const std::shared_ptr<Shared>& shared, int rank);
    static void train(Shared& shared, int rank, Communicator& communicator);
    static void addFailure(Shared& shared, RankFailure failure);
    static std::vector<RankFailure> missingRanks(Shared& shared, const RankFailure& waiting);
    static TrainerPlace placeOf(Shared& shared, int rank);
    static void end(Shared& shared, int rank);
    static void abort(Shared& shared, const std::string& why);
    bool waitUntilEnded(std::unique_lock<std::mutex>& lock);
    CrewOutcome outcome();

    std::shared_ptr<Shared> m_shared;
    std::vector<std::thread> m_threads;
};

} // namespace mantissa
