#pragma once

#include "engine/comm/thread_group.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mantissa {

/// A check that a rank thread may make: Qt Test's own belong to the main thread.
inline void require(bool holds, const std::string& what)
{
    if (!holds)
        throw std::logic_error("not true on a rank: " + what);
}

/// Runs body(communicator) on one thread for each rank. The first exception aborts the others and comes out
/// here.
template <typename Body>
void runRanks(int ranks, Body body, std::chrono::milliseconds timeout = std::chrono::seconds(30))
{
    ThreadGroup group(ranks, timeout);
    std::mutex mutex;
    std::exception_ptr first;
    const auto runOne = [&](int rank) {
        const auto communicator = group.communicator(rank);
        std::string why = "rank " + std::to_string(rank) + " failed: ";
        try {
            body(*communicator);
            return;
        } catch (const std::exception& error) {
            const std::scoped_lock lock(mutex);
            why += error.what();
            if (!first)
                first = std::current_exception();
        }
        group.abort(why);
    };
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back(runOne, rank);
    }
    if (first)
        std::rethrow_exception(first);
}

} // namespace mantissa
