#pragma once

#include "engine/core/training_service.h"
#include "engine/recipe/setup.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/step_plan.h"
#include "engine/rules/check.h"

#include <QDateTime>
#include <QObject>
#include <QUndoStack>

#include <optional>
#include <string>
#include <vector>

namespace mantissa::ui {

/// What kept the text from being read, at its place.
struct ReadFailure {
    std::string message;
    std::string hint;
    SourcePoint at;
};

/// The set-up that is open: its text, what was read from it, and what the rules say about that. The text is
/// the truth: a form, a fix or a palette block changes single lines of it, so comments and order survive.
/// Every change is one undo step, and every change is checked at once.
class SetupDocument : public QObject {
    Q_OBJECT

public:
    explicit SetupDocument(QObject* parent = nullptr);

    const std::string& text() const { return m_text; }
    /// Read from the text, or from the last text that could be read.
    const Setup& setup() const { return m_setup; }
    const SourceMap& sources() const { return m_sources; }
    const StepPlan& plan() const { return m_plan; }
    const CheckReport& report() const { return m_report; }
    const std::vector<SourceProblem>& problems() const { return m_problems; }
    const std::optional<ReadFailure>& failure() const { return m_failure; }
    bool isReadable() const { return !m_failure; }
    QDateTime lastReadable() const { return m_lastReadable; }

    QUndoStack& undoStack() { return m_undo; }
    QString name() const { return m_name; } ///< "pretrain.yaml"
    QString path() const { return m_path; } ///< Empty: never saved.
    bool isModified() const { return !m_undo.isClean(); }

    Result<void> open(const QString& path);
    Result<void> save(const QString& path);
    /// A new, unsaved set-up. It counts as modified from its first change on: before, there is nothing to
    /// lose.
    void startFrom(std::string text, const QString& name, std::optional<ResumePoint> resume = {});
    /// The stored run that a start goes on from; none: from the beginning.
    const std::optional<ResumePoint>& resume() const { return m_resume; }
    void dropResume();

    /// One undo step; the error is that of the first edit that does not fit.
    Result<void> apply(const std::vector<Edit>& edits, const QString& title);
    Result<void> setField(const std::string& path, const Value& value);
    Result<void> resetField(const std::string& path);
    /// Replaces the whole text as one undo step. Steps with one `mergeKey` (> 0) that follow each other
    /// become one.
    void setText(std::string text, const QString& title, int mergeKey = 0);

signals:
    void changed(); ///< Text, set-up, plan or report are new.
    void nameChanged(); ///< Name, path or whether it is modified.

private:
    friend class TextCommand;
    void replaceText(std::string text);
    void load(std::string text, const QString& path, const QString& name,
              std::optional<ResumePoint> resume = {});
    void read();

    std::string m_text;
    Setup m_setup;
    SourceMap m_sources;
    StepPlan m_plan;
    CheckReport m_report;
    std::vector<SourceProblem> m_problems;
    std::optional<ReadFailure> m_failure;
    std::optional<ResumePoint> m_resume;
    QDateTime m_lastReadable;
    QString m_path;
    QString m_name;
    QUndoStack m_undo;
};

} // namespace mantissa::ui
