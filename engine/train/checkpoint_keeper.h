#pragma once

#include "engine/history/run_writer.h"
#include "engine/recipe/run_plan.h"
#include "engine/train/trainer_state.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mantissa {

/// A run's checkpoints: writes them beside the training, on a thread of its own, and takes away those that
/// its plan does not keep. take() comes from the ranks' threads; all else from the session's.
class CheckpointKeeper {
public:
    using Tell = std::function<void(RunEvent)>;
    /// The newest value of the series that the plan watches; none before its first.
    using Watched = std::function<std::optional<double>()>;

    CheckpointKeeper(const CheckpointPlan& plan, std::shared_ptr<RunWriter> writer, int ranks, Tell tell,
                     Watched watched);
    ~CheckpointKeeper(); ///< Waits for what is being written.

    /// One rank's part after so many steps. The last part of a checkpoint starts its writing; while another
    /// is being written it is left out, and told, since training does not wait for the disk.
    void take(int rank, std::int64_t stepsDone, TrainerState state);
    /// Writes the last one, of all ranks. Empty, or why there is none.
    std::string finish(std::int64_t stepsDone, std::vector<TrainerState> states);

private:
    struct Kept {
        std::int64_t stepsDone = 0;
        CheckpointRecord record;
        std::optional<double> value; ///< Of the watched series.
    };

    std::string write(std::int64_t stepsDone, const std::vector<TrainerState>& states,
                      std::optional<double> value);
    void prune();
    std::vector<std::int64_t> best() const;
    void tell(const char* kind, std::int64_t stepsDone, std::string message, std::string detail = {}) const;

    const CheckpointPlan m_plan;
    const std::shared_ptr<RunWriter> m_writer;
    const std::size_t m_ranks;
    const Tell m_tell;
    const Watched m_watched;
    std::mutex m_mutex;
    std::map<std::int64_t, std::map<int, TrainerState>> m_parts; ///< By steps done, then by rank.
    std::vector<Kept> m_kept; ///< Who writes has it alone.
    std::atomic<bool> m_writing = false;
    std::jthread m_thread;
};

} // namespace mantissa
