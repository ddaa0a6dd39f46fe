#include "ui/document/kept_draft.h"

#include <QSettings>

namespace mantissa::ui {
namespace {

const auto kGroup = QStringLiteral("draft");
const auto kText = QStringLiteral("text");
const auto kName = QStringLiteral("name");
const auto kPath = QStringLiteral("path");
const auto kKnown = QStringLiteral("known");
const auto kCheckpoint = QStringLiteral("resumeCheckpoint");
const auto kParentRun = QStringLiteral("resumeRun");
const auto kParentStep = QStringLiteral("resumeStep");

} // namespace

void keepDraft(const UnsavedDraft& draft)
{
    forgetDraft();
    QSettings settings;
    settings.beginGroup(kGroup);
    settings.setValue(kText, QByteArray::fromStdString(draft.text));
    settings.setValue(kName, draft.name);
    settings.setValue(kPath, draft.path);
    if (draft.known)
        settings.setValue(kKnown, QByteArray::fromStdString(*draft.known));
    if (draft.resume) {
        settings.setValue(kCheckpoint, QString::fromStdString(draft.resume->checkpoint.string()));
        settings.setValue(kParentRun, QString::fromStdString(draft.resume->parentRun));
        settings.setValue(kParentStep, static_cast<qint64>(draft.resume->parentStep));
    }
    settings.sync();
}

std::optional<UnsavedDraft> keptDraft()
{
    QSettings settings;
    settings.beginGroup(kGroup);
    if (!settings.contains(kText))
        return std::nullopt;
    UnsavedDraft draft;
    draft.text = settings.value(kText).toByteArray().toStdString();
    draft.name = settings.value(kName).toString();
    draft.path = settings.value(kPath).toString();
    if (settings.contains(kKnown))
        draft.known = settings.value(kKnown).toByteArray().toStdString();
    if (settings.contains(kCheckpoint))
        draft.resume = ResumePoint{settings.value(kCheckpoint).toString().toStdString(),
                                   settings.value(kParentRun).toString().toStdString(),
                                   settings.value(kParentStep).toLongLong()};
    return draft;
}

void forgetDraft()
{
    QSettings().remove(kGroup);
}

} // namespace mantissa::ui
