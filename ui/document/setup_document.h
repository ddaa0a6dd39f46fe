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

/// The file, against what was last read from it or written to it.
enum class FileOnDisk { Known, Changed, Gone };

/// Text that is not saved, with all that it takes to go on with it later.
struct UnsavedDraft {
    std::string text;
    QString name;
    QString path;
    std::optional<std::string> known; ///< What the file held; none: there was none.
    std::optional<ResumePoint> resume;
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
    /// Readable, and without a single setting.
    bool isEmpty() const { return isReadable() && m_setup == Setup(); }
    QDateTime lastReadable() const { return m_lastReadable; }

    QUndoStack& undoStack() { return m_undo; }
    QString name() const { return m_name; } ///< "pretrain.yaml"
    QString path() const { return m_path; } ///< Empty: never saved.
    bool isModified() const { return !m_undo.isClean(); }

    Result<void> open(const QString& path);
    Result<void> save(const QString& path);
    /// Reads the file: another program may have written it.
    FileOnDisk onDisk() const;
    /// What stands in the file now, as one undo step.
    Result<void> reload();
    /// The text that is open is the one to keep, whatever stands in the file now: saving asks no more.
    void keepMine();
    /// No file holds this text any more.
    void setUnsaved() { m_undo.resetClean(); }
    UnsavedDraft draft() const { return {m_text, m_name, m_path, m_known, m_resume}; }
    void restore(const UnsavedDraft& draft);
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
    void fileKnown(); ///< Another file, or the file as it is now: read, written or accepted.

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
    std::optional<std::string> m_known; ///< The file's bytes; none: there is no file.
    QDateTime m_lastReadable;
    QString m_path;
    QString m_name;
    QUndoStack m_undo;
};

} // namespace mantissa::ui
