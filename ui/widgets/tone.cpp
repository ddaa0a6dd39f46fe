#include "ui/widgets/tone.h"

namespace mantissa::ui {

ToneColours toneColours(const Theme& theme, Tone tone)
{
    switch (tone) {
    case Tone::Stop:
        return {theme.stop, theme.stopWeak, theme.stopLine};
    case Tone::Warn:
        return {theme.warn, theme.warnWeak, theme.warnLine};
    case Tone::Wasteful:
        return {theme.waste, theme.panel, theme.waste};
    case Tone::Ok:
        return {theme.ok, theme.okWeak, theme.okLine};
    case Tone::Accent:
        return {theme.accent, theme.accentWeak, theme.accentLine};
    case Tone::Info:
    case Tone::Neutral:
        break;
    }
    return {theme.info, theme.panel, theme.borderStrong};
}

QString toneIcon(Tone tone)
{
    switch (tone) {
    case Tone::Stop:
        return QStringLiteral("stop_sign");
    case Tone::Warn:
        return QStringLiteral("differs");
    case Tone::Wasteful:
        return QStringLiteral("wasteful");
    case Tone::Info:
        return QStringLiteral("info");
    case Tone::Ok:
        return QStringLiteral("ok");
    case Tone::Accent:
        return QStringLiteral("play");
    case Tone::Neutral:
        break;
    }
    return {};
}

} // namespace mantissa::ui
