#include "engine/train/rank_crew.h"

#include <algorithm>
#include <utility>

namespace mantissa {

using Clock = std::chrono::steady_clock;

RankCrew::Shared::Shared(CrewOrders given, std::shared_ptr<RankGroup> meeting)
    : orders(std::move(given)),
      group(std::move(meeting)),
      ranks(static_cast<std::size_t>(orders.ranks)),
      states(static_cast<std::size_t>(orders.ranks))
{
}

RankCrew::RankCrew(CrewOrders orders, std::shared_ptr<RankGroup> group)
    : m_shared(std::make_shared<Shared>(std::move(orders), std::move(group)))
{
}

RankCrew::~RankCrew() = default;

void RankCrew::start()
{
    m_shared->running = m_shared->orders.ranks;
    for (int rank = 0; rank < m_shared->orders.ranks; ++rank) {
        m_threads.emplace_back([shared = m_shared, rank] {
            shared->orders.load->ranks.fetch_add(1);
            runRank(shared, rank);
            shared->orders.load->ranks.fetch_sub(1);
        });
    }
}

void RankCrew::runRank(const std::shared_ptr<Shared>& shared, int rank)
{
    try {
        const auto communicator = shared->group->communicator(rank);
        train(*shared, rank, *communicator);
    } catch (...) {
        RankFailure failure = failureOf(std::current_exception(), rank);
        const TrainerPlace place = placeOf(*shared, rank);
        failure.stage = place.stage;
        failure.step = place.step;
        addFailure(*shared, std::move(failure));
    }
    end(*shared, rank);
}

void RankCrew::train(Shared& shared, int rank, Communicator& communicator)
{
    auto& own = shared.ranks[static_cast<std::size_t>(rank)];
    auto made = shared.orders.source->make(communicator);
    RankTraining& training = *made;
    {
        const std::scoped_lock lock(own.mutex);
        own.training = std::move(made);
    }
    auto way = SessionGate::Way::On;
    for (std::int64_t step = 0; !training.finished(); ++step) {
        way = shared.orders.gate->arrive(step);
        if (way != SessionGate::Way::On)
            break;
        const StepReport report = training.step(shared.stalls.get_token());
        shared.orders.report(rank, report);
        const std::int64_t done = report.step + 1;
        const std::int64_t every = shared.orders.stateEvery;
        const bool due = report.checkpointDue || (every > 0 && done % every == 0);
        if (due && !training.finished())
            shared.orders.keep(rank, done, training.state());
    }
    if (way == SessionGate::Way::GiveUp)
        throw CommError("another rank has failed");
    const bool stopped = way == SessionGate::Way::Stop;
    std::optional<TrainerState> state;
    if (shared.orders.wantsState || stopped)
        state = training.state();
    const std::scoped_lock lock(shared.mutex);
    shared.stopped = shared.stopped || stopped;
    shared.states[static_cast<std::size_t>(rank)] = std::move(state);
}

void RankCrew::addFailure(Shared& shared, RankFailure failure)
{
    const std::string words = describe(failure);
    auto missing = failure.followed ? missingRanks(shared, failure) : std::vector<RankFailure>{};
    {
        const std::scoped_lock lock(shared.mutex);
        const bool nobodyElse = shared.failures.empty() && !shared.closed;
        // Ranks that disagree on a collective fail together, with no other cause behind them; and once one
        // has failed, the others fail in ways of their own, since nothing comes to them any more. A refusal
        // comes to all ranks alike.
        if (nobodyElse)
            failure.followed = failure.followed && !missing.empty();
        else
            failure.followed = failure.code != ErrorCode::Refused;
        if (nobodyElse)
            shared.failures.insert(shared.failures.end(), missing.begin(), missing.end());
        shared.failures.push_back(std::move(failure));
        if (!shared.endBy)
            shared.endBy = Clock::now() + shared.orders.patience;
        shared.changed.notify_all();
    }
    abort(shared, words);
}

// A time-out is the failure of those who did not come, told by one who waited.
std::vector<RankFailure> RankCrew::missingRanks(Shared& shared, const RankFailure& waiting)
{
    std::vector<RankFailure> missing;
    for (const int rank : shared.group->missing()) {
        const TrainerPlace place = placeOf(shared, rank);
        RankFailure failure{rank, place.stage, place.step, ErrorCode::RankLost, {}, {}, false};
        failure.cause = "it did not come to a collective within "
            + std::to_string(shared.orders.collectiveTimeout.count()) + " ms; rank "
            + std::to_string(waiting.rank) + " waited for it at " + std::string(stageTitle(waiting.stage))
            + " in step " + std::to_string(waiting.step);
        missing.push_back(std::move(failure));
    }
    return missing;
}

TrainerPlace RankCrew::placeOf(Shared& shared, int rank)
{
    auto& asked = shared.ranks[static_cast<std::size_t>(rank)];
    const std::scoped_lock lock(asked.mutex);
    return asked.training ? asked.training->place() : asked.place;
}

void RankCrew::end(Shared& shared, int rank)
{
    auto& own = shared.ranks[static_cast<std::size_t>(rank)];
    std::unique_ptr<RankTraining> training;
    {
        const std::scoped_lock lock(own.mutex);
        if (own.training)
            own.place = own.training->place();
        training = std::move(own.training);
    }
    training.reset(); // on this thread, which made it
    const std::scoped_lock lock(shared.mutex);
    own.ended = true;
    --shared.running;
    shared.changed.notify_all();
}

void RankCrew::abort(Shared& shared, const std::string& why)
{
    shared.group->abort(why);
    shared.orders.gate->giveUp();
    shared.stalls.request_stop();
    shared.orders.source->close();
}

void RankCrew::endStalls()
{
    m_shared->stalls.request_stop();
}

void RankCrew::close(Clock::time_point deadline)
{
    const std::scoped_lock lock(m_shared->mutex);
    m_shared->closeBy = deadline;
    m_shared->changed.notify_all();
}

// False where ranks still run after all patience.
bool RankCrew::waitUntilEnded(std::unique_lock<std::mutex>& lock)
{
    auto& shared = *m_shared;
    while (shared.running > 0) {
        const auto now = Clock::now();
        if (shared.endBy && now >= *shared.endBy)
            return false;
        if (shared.closeBy && !shared.endBy && now >= *shared.closeBy) {
            shared.closed = true;
            shared.endBy = now + shared.orders.patience;
            lock.unlock();
            abort(shared, "the run was closed");
            lock.lock();
            continue;
        }
        if (shared.endBy)
            shared.changed.wait_until(lock, *shared.endBy);
        else if (shared.closeBy)
            shared.changed.wait_until(lock, *shared.closeBy);
        else
            shared.changed.wait(lock);
    }
    return true;
}

CrewOutcome RankCrew::waitForEnd()
{
    std::unique_lock lock(m_shared->mutex);
    const bool ended = waitUntilEnded(lock);
    lock.unlock();
    for (auto& thread : m_threads) {
        if (ended)
            thread.join();
        else
            thread.detach();
    }
    m_threads.clear();
    return outcome();
}

CrewOutcome RankCrew::outcome()
{
    auto& shared = *m_shared;
    CrewOutcome outcome;
    const std::scoped_lock lock(shared.mutex);
    if (const auto* cause = firstCause(shared.failures))
        outcome.failure = *cause;
    outcome.stopped = shared.stopped;
    outcome.closed = shared.closed;
    for (auto& state : shared.states)
        if (state)
            outcome.states.push_back(std::move(*state));
    for (int rank = 0; rank < shared.orders.ranks; ++rank) {
        if (!shared.ranks[static_cast<std::size_t>(rank)].ended)
            outcome.stuck.push_back(rank);
    }
    if (outcome.failure || outcome.closed || outcome.states.size() < shared.ranks.size())
        outcome.states.clear();
    return outcome;
}

} // namespace mantissa
