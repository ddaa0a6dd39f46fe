#pragma once

#include "engine/core/run_state.h"
#include "engine/core/training_service.h"
#include "ui/plot/run_outline.h"
#include "ui/plot/run_series.h"
#include "ui/widgets/tone.h"

#include <QString>

namespace mantissa::ui {

/// How a state of a run looks and reads.
struct StateLook {
    Tone tone = Tone::Neutral;
    QString icon;
    QString word;
};

StateLook lookOf(RunState state);

/// What a run is doing, in plain words.
struct RunWords {
    Tone tone = Tone::Ok;
    QString sentence;
    QString detail;
};

RunWords describeRun(const RunSeries& series, const RunOutline& outline, const RunProgress& progress,
                     RunState state);

/// What of a run is not drawn, or not stored; no sentence where nothing is missing.
RunWords describeLosses(const RunProgress& progress, RunState state);

/// "This machine · 2 ranks, threads"
QString whereItRuns(const RunOutline& outline);

QString precisionName(PrecisionMode precision); ///< "16-mixed"
QString strategyName(StrategyKind strategy); ///< "fsdp"

} // namespace mantissa::ui
