#include "ui/widgets/severity.h"

#include <QCoreApplication>

#include <algorithm>

namespace mantissa::ui {
namespace {

QString words(const char* text)
{
    return QCoreApplication::translate("Severity", text);
}

} // namespace

Tone severityTone(Severity severity)
{
    switch (severity) {
    case Severity::WontStart:
    case Severity::Stops:
        return Tone::Stop;
    case Severity::Differs:
        return Tone::Warn;
    case Severity::Wasteful:
        return Tone::Wasteful;
    case Severity::Info:
        break;
    }
    return Tone::Info;
}

QString severityTitle(Severity severity, Stage stage)
{
    return QString::fromStdString(severityWords(severity, stage));
}

QString severityWord(Severity severity)
{
    switch (severity) {
    case Severity::WontStart:
        return words("will not start");
    case Severity::Stops:
        return words("will stop");
    case Severity::Differs:
        return words("not as asked");
    case Severity::Wasteful:
        return words("wasteful");
    case Severity::Info:
        break;
    }
    return words("good to know");
}

QString stageTitleText(Stage stage)
{
    const auto title = stageTitle(stage);
    return QString::fromUtf8(title.data(), static_cast<qsizetype>(title.size()));
}

int countOf(std::span<const Finding> findings, Severity severity)
{
    return static_cast<int>(std::count_if(findings.begin(), findings.end(),
                                          [severity](const Finding& f) { return f.severity == severity; }));
}

} // namespace mantissa::ui
