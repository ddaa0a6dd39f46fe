#pragma once

#include "engine/comm/communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace mantissa {

/// Where the ranks of one process meet, whatever carries their data. Outlives its communicators. abort(),
/// reason() and missing() may be called from any thread.
class RankGroup {
public:
    virtual ~RankGroup() = default;

    virtual std::unique_ptr<Communicator> communicator(int rank) = 0; ///< On the rank's own thread.
    virtual int size() const = 0;

    /// Wakes every waiting rank; the first reason is kept.
    virtual void abort(const std::string& why) noexcept = 0;
    virtual bool aborted() const noexcept = 0;
    virtual std::string reason() const = 0;
    /// The ranks that a time-out waited for in vain; empty where none happened.
    virtual std::vector<int> missing() const = 0;
};

} // namespace mantissa
