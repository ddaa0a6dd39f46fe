#pragma once

#include "engine/rules/finding.h"
#include "ui/widgets/tone.h"

#include <QString>

#include <span>

namespace mantissa::ui {

/// How a severity looks and reads in the window.
Tone severityTone(Severity severity);
QString severityTitle(Severity severity, Stage stage); ///< "Will stop at step 1, at Unscale"
QString severityWord(Severity severity); ///< For counts: "will stop"
QString stageTitleText(Stage stage);

/// How many findings of one severity there are.
int countOf(std::span<const Finding> findings, Severity severity);

} // namespace mantissa::ui
