#pragma once

#include "engine/core/training_service.h"
#include "engine/history/resume_draft.h"

#include <QObject>
#include <QString>

namespace mantissa::ui {

/// Requests from one page that another one, or the window, answers.
class Navigation : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

signals:
    /// Bring a page to the front, by its id in the page catalogue: "compose", "run", "history", "knowledge",
    /// "settings".
    void pageAsked(const QString& id);
    /// Start this run and show it. The history folder is filled in.
    void runAsked(const mantissa::RunRequest& request);
    /// Show a stored run, by its folder.
    void storedRunAsked(const QString& folder);
    /// Open this text as a new, unsaved set-up under that name.
    void draftAsked(const QString& yaml, const QString& name);
    /// Open this text as a new set-up that goes on from a stored run.
    void resumeDraftAsked(const mantissa::ResumeDraft& draft);
    /// Show a stored run, by its folder, and ask how it shall go on.
    void resumeAsked(const QString& folder);
    /// Let the user choose a file to open.
    void openAsked();
    /// Show what is known about a rule or an error, by its id.
    void ruleAsked(const QString& rule);
    /// Show the form with the facts about the user's module.
    void factsAsked();
    /// Whether a run is in progress: one runs at a time.
    void runningChanged(bool running);
};

} // namespace mantissa::ui
