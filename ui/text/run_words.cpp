#include "ui/text/run_words.h"

#include "ui/text/format.h"

#include <QCoreApplication>

#include <cmath>
#include <optional>

namespace mantissa::ui {
namespace {

constexpr double kRecent = 200.0; // Steps that "lately" means.

QString say(const char* text)
{
    return QCoreApplication::translate("RunWords", text);
}

std::optional<double> lastOf(const RunSeries& series, std::string_view name)
{
    const auto* column = series.find(name);
    if (!column || column->size() == 0)
        return std::nullopt;
    return column->last();
}

/// How many points of a series above zero lie from one step on.
int countSince(const RunSeries& series, std::string_view name, int rank, double from)
{
    const auto* column = series.find(name, rank);
    int count = 0;
    for (auto at = column ? column->size() : 0; at > 0 && column->levels.x(at - 1) >= from; --at)
        count += column->levels.value(at - 1) > 0.0 ? 1 : 0;
    return count;
}

/// The rank whose own gradients overflowed most often lately; −1 where none did.
int overflowingRank(const RunSeries& series, int ranks, double from)
{
    int worst = -1;
    int most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const int count = countSince(series, "nonfinite_before", rank, from);
        if (count > most) {
            most = count;
            worst = rank;
        }
    }
    return worst;
}

QString skippedText(const RunProgress& progress)
{
    if (progress.skipped == 0)
        return say("No step was skipped.");
    return say("%1 of %2 steps skipped.").arg(formatCount(progress.skipped), formatCount(progress.step));
}

std::optional<RunWords> brokenLoss(const RunSeries& series, const RunProgress& progress)
{
    const auto loss = lastOf(series, "loss");
    if (!loss || std::isfinite(*loss) || lastOf(series, "skipped").value_or(0.0) > 0.0)
        return std::nullopt;
    const auto& lost = series.find("loss")->levels.nonFinite();
    auto since = lost.back().step;
    for (auto point = lost.rbegin(); point != lost.rend() && point->step >= since - 1; ++point)
        since = point->step;
    return RunWords{
        Tone::Stop, say("The loss is %1 since step %2.").arg(formatNumber(*loss), formatCount(since)),
        say("The weights may hold it by now: go back to a checkpoint from before. ") + skippedText(progress)};
}

std::optional<RunWords> lateOverflows(const RunSeries& series, const RunOutline& outline,
                                      const RunProgress& progress)
{
    const double from = series.lastStep() - kRecent;
    const int skipped = countSince(series, "skipped", -1, std::max(from, 0.0));
    if (!outline.scaled || skipped == 0)
        return std::nullopt;
    if (from < 0.0) {
        if (skipped < 16)
            return RunWords{Tone::Info,
                            say("The loss scale is finding its place: %1 so far.")
                                .arg(counted(skipped, say("overflow"), say("overflows"))),
                            say("It starts high on purpose. ") + skippedText(progress)};
        return RunWords{Tone::Warn,
                        say("The loss scale does not find a place: %1 overflows in %2 steps.")
                            .arg(skipped)
                            .arg(progress.step),
                        say("Gradients overflow at any scale tried: look at the learning rate and the batch "
                            "that rank reads.")};
    }
    if (skipped < 3)
        return std::nullopt;
    const int rank = outline.ranks > 1 ? overflowingRank(series, outline.ranks, from) : -1;
    const auto where =
        rank >= 0 ? say("gradients overflow on rank %1 first.").arg(rank) : say("gradients overflow.");
    return RunWords{Tone::Warn,
                    say("Scale lowered %1 times in the last 200 steps: %2").arg(skipped).arg(where),
                    skippedText(progress)};
}

std::optional<RunWords> lowScale(const RunSeries& series, const RunOutline& outline)
{
    const auto scale = lastOf(series, "loss_scale");
    if (!outline.scaled || !scale || *scale >= 1.0)
        return std::nullopt;
    return RunWords{
        Tone::Warn, say("The loss scale is down to %1.").arg(formatNumber(*scale)),
        say("Under 1 it no longer keeps small gradients alive; something overflows that no scale can cure.")};
}

std::optional<RunWords> stalled(const RunSeries& series, const RunOutline& outline)
{
    const auto share = lastOf(series, "stalled_share");
    if (!share || *share < 0.5 || weightMantissaBits(outline.precision) == 23)
        return std::nullopt;
    return RunWords{Tone::Warn,
                    say("%1 % of the updates round to nothing: %2 weights do not follow so small a step.")
                        .arg(std::lround(*share * 100.0))
                        .arg(weightMantissaBits(outline.precision) == 7 ? say("bf16") : say("fp16")),
                    say("The gradients are fine. An fp32 copy of the weights, as in mixed precision, would "
                        "keep the updates.")};
}

RunWords calm(const RunSeries& series, const RunProgress& progress)
{
    const auto loss = lastOf(series, "loss");
    return {Tone::Ok,
            loss ? say("Training runs in order; loss %1.").arg(formatNumber(*loss))
                 : say("Training runs in order."),
            skippedText(progress)};
}

RunWords ended(const RunSeries& series, const RunProgress& progress, Tone tone, const char* how)
{
    const auto loss = lastOf(series, "loss");
    auto words = RunWords{tone, say(how).arg(counted(progress.step, say("step"), say("steps"))),
                          skippedText(progress)};
    if (loss)
        words.detail = say("Last loss %1. ").arg(formatNumber(*loss)) + words.detail;
    return words;
}

} // namespace

StateLook lookOf(RunState state)
{
    switch (state) {
    case RunState::Queued:
        return {Tone::Neutral, QStringLiteral("grip"), say("queued")};
    case RunState::Running:
        return {Tone::Accent, QStringLiteral("play"), say("running")};
    case RunState::Paused:
        return {Tone::Accent, QStringLiteral("pause"), say("paused")};
    case RunState::Finished:
        return {Tone::Ok, QStringLiteral("ok"), say("finished")};
    case RunState::Stopped:
        return {Tone::Neutral, QStringLiteral("stop"), say("stopped")};
    case RunState::Failed:
        return {Tone::Stop, QStringLiteral("stop_sign"), say("failed")};
    case RunState::Interrupted:
        return {Tone::Warn, QStringLiteral("pause"), say("interrupted")};
    }
    return {};
}

RunWords describeRun(const RunSeries& series, const RunOutline& outline, const RunProgress& progress,
                     RunState state)
{
    if (state == RunState::Finished)
        return ended(series, progress, Tone::Ok, QT_TRANSLATE_NOOP("RunWords", "Finished after %1."));
    if (state == RunState::Stopped)
        return ended(series, progress, Tone::Info,
                     QT_TRANSLATE_NOOP("RunWords", "Stopped after %1; a checkpoint was written."));
    if (state == RunState::Failed)
        return ended(series, progress, Tone::Info, QT_TRANSLATE_NOOP("RunWords", "Failed after %1."));
    if (state == RunState::Interrupted)
        return ended(series, progress, Tone::Warn,
                     QT_TRANSLATE_NOOP(
                         "RunWords",
                         "Interrupted after %1: its process went away. At most the last second is missing."));
    if (series.isEmpty())
        return {Tone::Info, say("Nothing is recorded yet."), say("The first step is being made.")};
    if (auto words = brokenLoss(series, progress))
        return *words;
    if (auto words = lateOverflows(series, outline, progress))
        return *words;
    if (auto words = lowScale(series, outline))
        return *words;
    if (auto words = stalled(series, outline))
        return *words;
    return calm(series, progress);
}

RunWords describeLosses(const RunProgress& progress, RunState state)
{
    const auto points = [](std::uint64_t count) {
        return counted(static_cast<std::int64_t>(count), say("point"), say("points"));
    };
    if (progress.lostPoints > 0)
        return {Tone::Stop, say("%1 could not be stored.").arg(points(progress.lostPoints)),
                progress.historyTrouble.empty()
                    ? say("The history of this run has a gap. Training and checkpoints are not touched.")
                    : QString::fromStdString(progress.historyTrouble)};
    if (!progress.historyTrouble.empty() && !hasEnded(state))
        return {Tone::Warn, say("The history of this run is not being written."),
                QString::fromStdString(progress.historyTrouble)
                    + say(" Up to a million points are kept in memory meanwhile.")};
    if (progress.unshownPoints > 0)
        return {Tone::Info, say("%1 not drawn.").arg(points(progress.unshownPoints)),
                say("The window was too busy to take them. The history has them all.")};
    return {};
}

QString whereItRuns(const RunOutline& outline)
{
    return say("This machine · %1")
        .arg(outline.ranks > 1 ? say("%1 ranks, threads").arg(outline.ranks) : say("1 rank"));
}

QString precisionName(PrecisionMode precision)
{
    const auto id = precisionId(precision);
    return QString::fromUtf8(id.data(), static_cast<qsizetype>(id.size()));
}

QString strategyName(StrategyKind strategy)
{
    switch (strategy) {
    case StrategyKind::Single:
        return QStringLiteral("single_device");
    case StrategyKind::Ddp:
        return QStringLiteral("ddp");
    case StrategyKind::Fsdp:
        return QStringLiteral("fsdp");
    case StrategyKind::Fsdp2:
        return QStringLiteral("fsdp2");
    case StrategyKind::Zero1:
        return QStringLiteral("zero1");
    }
    return {};
}

} // namespace mantissa::ui
