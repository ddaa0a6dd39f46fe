#include "engine/history/resume_draft.h"

#include "engine/core/counted.h"
#include "engine/history/run_reader.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/setup_text.h"

#include <string_view>

namespace mantissa {
namespace {

Result<CheckpointRecord> chooseCheckpoint(const RunReader& reader, const std::filesystem::path& run,
                                          const std::optional<std::int64_t>& fromStep)
{
    const auto all = reader.checkpoints();
    if (!all)
        return all.error();
    std::optional<CheckpointRecord> chosen;
    std::string steps;
    for (const auto& one : *all) {
        std::error_code ignored;
        if (!one.kept || !std::filesystem::exists(run / one.path, ignored))
            continue;
        steps += (steps.empty() ? "" : ", ") + std::to_string(one.step);
        if ((!fromStep || one.step <= *fromStep) && (!chosen || one.step > chosen->step))
            chosen = one;
    }
    if (chosen)
        return *chosen;
    if (!steps.empty())
        return Error{ErrorCode::NotFound,
                     "The run has no checkpoint at step " + std::to_string(*fromStep) + " or before it.",
                     "It has one after step " + steps + "."};
    return Error{
        ErrorCode::NotFound, "The run left no checkpoint to go on from.",
        "A run that is killed has one only where ModelCheckpoint's every_n_train_steps asked for it."};
}

/// Another name than the first run's, so that both can be called by it.
std::string nameFor(const std::string& first, std::int64_t steps)
{
    static constexpr std::string_view kFrom = "-from-";
    const auto at = first.rfind(kFrom);
    const bool isContinued = at != std::string::npos && at + kFrom.size() < first.size()
        && first.find_first_not_of("0123456789", at + kFrom.size()) == std::string::npos;
    return first.substr(0, isContinued ? at : first.size()) + std::string(kFrom) + std::to_string(steps);
}

/// Steps count in all, those of the first run among them. A limit of epochs would end the run before.
Result<std::string> textWithSteps(const std::string& text, std::int64_t steps)
{
    std::vector<Edit> edits = {{EditOp::Set, std::string(field::maxSteps.path), Value(steps)}};
    if (readSetup(text).setup[field::maxEpochs].isSet())
        edits.push_back({EditOp::Unset, std::string(field::maxEpochs.path), {}});
    return editSetupText(text, edits);
}

} // namespace

Result<ResumeDraft> draftResume(const std::filesystem::path& run, const ResumeWish& wish)
{
    const auto reader = RunReader::open(run);
    if (!reader)
        return reader.error();
    const auto row = (*reader)->summary();
    if (!row)
        return row.error();
    if (!hasEnded(row->state))
        return Error{ErrorCode::NotHere, "Run " + row->id + " is still training.",
                     "Stop it first: it writes a checkpoint then."};
    const auto setup = (*reader)->setup();
    if (!setup)
        return setup.error();
    const auto checkpoint = chooseCheckpoint(**reader, run, wish.fromStep);
    if (!checkpoint)
        return checkpoint.error();
    ResumeDraft draft{setup->yaml,
                      {run / checkpoint->path, row->id, checkpoint->step},
                      nameFor(row->name, checkpoint->step + 1)};
    if (!wish.toSteps)
        return draft;
    if (*wish.toSteps <= checkpoint->step + 1)
        return Error{ErrorCode::InvalidSetup,
                     "The checkpoint holds " + counted(checkpoint->step + 1, "step") + " already.",
                     "Go on to more of them, or begin at an earlier checkpoint."};
    auto text = textWithSteps(draft.setupText, *wish.toSteps);
    if (!text)
        return text.error();
    draft.setupText = *std::move(text);
    return draft;
}

} // namespace mantissa
