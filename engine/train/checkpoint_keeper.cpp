#include "engine/train/checkpoint_keeper.h"

#include "engine/checkpoint/checkpoint.h"
#include "engine/core/counted.h"
#include "engine/history/run_folder.h"
#include "engine/recipe/stage.h"
#include "engine/tensor/guarded_torch.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mantissa {

CheckpointKeeper::CheckpointKeeper(const CheckpointPlan& plan, std::shared_ptr<RunWriter> writer, int ranks,
                                   Tell tell, Watched watched)
    : m_plan(plan),
      m_writer(std::move(writer)),
      m_ranks(static_cast<std::size_t>(ranks)),
      m_tell(std::move(tell)),
      m_watched(std::move(watched))
{
}

CheckpointKeeper::~CheckpointKeeper() = default;

void CheckpointKeeper::take(int rank, std::int64_t stepsDone, TrainerState state)
{
    const std::scoped_lock lock(m_mutex);
    auto& parts = m_parts[stepsDone];
    parts[rank] = std::move(state);
    if (parts.size() < m_ranks)
        return;
    std::vector<TrainerState> states;
    for (auto& [of, part] : parts)
        states.push_back(std::move(part));
    m_parts.erase(stepsDone);
    if (m_writing.exchange(true)) {
        tell("checkpoint_skipped", stepsDone,
             "No checkpoint after " + counted(stepsDone, "step")
                 + ": the one before is still being written.");
        return;
    }
    m_thread = std::jthread([this, stepsDone, states = std::move(states), value = m_watched()] {
        (void)write(stepsDone, states, value);
        m_writing = false;
    });
}

std::string CheckpointKeeper::finish(std::int64_t stepsDone, std::vector<TrainerState> states)
{
    if (m_thread.joinable())
        m_thread.join();
    const bool there = !m_kept.empty() && m_kept.back().stepsDone == stepsDone;
    return there ? std::string() : write(stepsDone, states, m_watched());
}

// Empty, or why there is none.
std::string CheckpointKeeper::write(std::int64_t stepsDone, const std::vector<TrainerState>& states,
                                    std::optional<double> value)
{
    const auto saved = guardedTorch("writing the checkpoint", [&] {
        return writeCheckpoint(m_writer->folder() / kCheckpointFolder, stepsDone, states);
    });
    if (!saved) {
        std::string message = "No checkpoint was written: " + saved.error().message;
        message += message.ends_with('.') ? "" : ".";
        tell("failure", stepsDone, message);
        return message;
    }
    const auto path = std::filesystem::path(kCheckpointFolder) / saved->folder.filename();
    m_kept.push_back({stepsDone, {stepsDone - 1, path.string(), saved->bytes, saved->sha256, true}, value});
    m_writer->append(m_kept.back().record);
    const bool sharded = !states.front().shapes.empty();
    tell("checkpoint", stepsDone,
         (sharded ? "A sharded checkpoint after " : "A full checkpoint after ") + counted(stepsDone, "step")
             + ".",
         nlohmann::json{{"path", path.string()}}.dump());
    prune();
    return {};
}

/// The steps of the checkpoints that are best by the watched series.
std::vector<std::int64_t> CheckpointKeeper::best() const
{
    std::vector<const Kept*> ranked;
    for (const auto& each : m_kept)
        if (each.value && !std::isnan(*each.value))
            ranked.push_back(&each);
    std::stable_sort(ranked.begin(), ranked.end(), [this](const Kept* a, const Kept* b) {
        return m_plan.mostIsBest ? *a->value > *b->value : *a->value < *b->value;
    });
    if (m_plan.keepBest >= 0 && ranked.size() > static_cast<std::size_t>(m_plan.keepBest))
        ranked.resize(static_cast<std::size_t>(m_plan.keepBest));
    std::vector<std::int64_t> steps;
    for (const auto* each : ranked)
        steps.push_back(each->stepsDone);
    return steps;
}

// Only after the newest one was verified: until then what is there stays.
void CheckpointKeeper::prune()
{
    if (m_plan.keepLast < 0)
        return;
    const auto wanted = m_plan.monitor.empty() ? std::vector<std::int64_t>() : best();
    const std::size_t old =
        m_kept.size() - std::min(m_kept.size(), static_cast<std::size_t>(m_plan.keepLast));
    std::vector<Kept> kept;
    for (std::size_t i = 0; i < m_kept.size(); ++i) {
        auto& each = m_kept[i];
        const bool stays =
            i >= old || std::find(wanted.begin(), wanted.end(), each.stepsDone) != wanted.end();
        if (!stays) {
            std::error_code ignored;
            std::filesystem::remove_all(m_writer->folder() / each.record.path, ignored);
            each.record.kept = false;
            m_writer->append(each.record);
        } else {
            kept.push_back(std::move(each));
        }
    }
    m_kept = std::move(kept);
}

void CheckpointKeeper::tell(const char* kind, std::int64_t stepsDone, std::string message,
                            std::string detail) const
{
    RunEvent event;
    event.step = std::max<std::int64_t>(0, stepsDone - 1);
    event.kind = kind;
    event.stage = stageId(Stage::Record);
    event.message = std::move(message);
    event.detail = std::move(detail);
    m_tell(std::move(event));
}

} // namespace mantissa
