#include "ui/document/setup_document.h"

#include "engine/recipe/setup_text.h"
#include "engine/rules/text_findings.h"

#include <QFileInfo>
#include <QSaveFile>

#include <algorithm>
#include <utility>

namespace mantissa::ui {
namespace {

/// Of a file that is too large not even its text can be shown in good time.
Result<std::string> readShowable(const QString& path)
{
    auto text = readSetupText(path.toStdString());
    if (!text)
        return text;
    for (const auto& problem : readSetup(*text).problems)
        if (problem.id == "too_large")
            return Error{ErrorCode::InvalidSetup, path.toStdString() + ": " + problem.message, problem.hint};
    return text;
}

} // namespace

/// One change of the text, with what was before and after.
class TextCommand : public QUndoCommand {
public:
    TextCommand(SetupDocument& document, std::string after, const QString& title, int mergeKey)
        : QUndoCommand(title),
          m_document(document),
          m_before(document.text()),
          m_after(std::move(after)),
          m_mergeKey(mergeKey)
    {
    }

    void undo() override { m_document.replaceText(m_before); }
    void redo() override { m_document.replaceText(m_after); }
    int id() const override { return m_mergeKey > 0 ? m_mergeKey : -1; }

    bool mergeWith(const QUndoCommand* other) override
    {
        m_after = static_cast<const TextCommand*>(other)->m_after;
        return true;
    }

private:
    SetupDocument& m_document;
    std::string m_before;
    std::string m_after;
    int m_mergeKey;
};

SetupDocument::SetupDocument(QObject* parent) : QObject(parent), m_name(tr("untitled.yaml"))
{
    connect(&m_undo, &QUndoStack::cleanChanged, this, &SetupDocument::nameChanged);
    read();
}

Result<void> SetupDocument::open(const QString& path)
{
    auto text = readShowable(path);
    if (!text)
        return text.error();
    m_known = *text;
    load(*std::move(text), QFileInfo(path).absoluteFilePath(), QFileInfo(path).fileName());
    emit fileKnown();
    return {};
}

Result<void> SetupDocument::save(const QString& path)
{
    QSaveFile file(path);
    const auto bytes = QByteArray::fromStdString(m_text);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
        return Error{ErrorCode::Io, tr("%1 was not saved: %2.").arg(path, file.errorString()).toStdString(),
                     tr("What was there before is unchanged. Save it in another folder.").toStdString()};
    }
    m_path = QFileInfo(path).absoluteFilePath();
    m_name = QFileInfo(path).fileName();
    m_known = m_text;
    m_undo.setClean();
    emit nameChanged();
    emit fileKnown();
    return {};
}

FileOnDisk SetupDocument::onDisk() const
{
    if (m_path.isEmpty())
        return FileOnDisk::Known;
    if (const auto there = readSetupText(m_path.toStdString()))
        return *there == m_known ? FileOnDisk::Known : FileOnDisk::Changed;
    if (QFileInfo::exists(m_path))
        return FileOnDisk::Changed;
    return m_known ? FileOnDisk::Gone : FileOnDisk::Known;
}

Result<void> SetupDocument::reload()
{
    auto text = readShowable(m_path);
    if (!text)
        return text.error();
    m_known = *text;
    setText(*std::move(text), tr("Reload %1").arg(m_name));
    m_undo.setClean();
    emit fileKnown();
    return {};
}

void SetupDocument::keepMine()
{
    const auto there = readSetupText(m_path.toStdString());
    m_known = there ? std::optional(*there) : std::nullopt;
    setUnsaved();
    emit fileKnown();
}

void SetupDocument::restore(const UnsavedDraft& draft)
{
    m_known = draft.known;
    load(draft.known.value_or(std::string()), draft.path, draft.name, draft.resume);
    setText(draft.text, tr("Restore what was not saved"));
    emit fileKnown();
}

void SetupDocument::startFrom(std::string text, const QString& name, std::optional<ResumePoint> resume)
{
    m_known.reset();
    load(std::move(text), {}, name, std::move(resume));
    emit fileKnown();
}

void SetupDocument::dropResume()
{
    m_resume.reset();
    emit changed();
}

void SetupDocument::setText(std::string text, const QString& title, int mergeKey)
{
    if (text != m_text)
        m_undo.push(new TextCommand(*this, std::move(text), title, mergeKey));
}

Result<void> SetupDocument::setField(const std::string& path, const Value& value)
{
    return apply({Edit{EditOp::Set, path, value}},
                 tr("%1: %2").arg(QString::fromStdString(path), QString::fromStdString(value.text())));
}

Result<void> SetupDocument::resetField(const std::string& path)
{
    return apply({Edit{EditOp::Unset, path, {}}}, tr("Reset %1").arg(QString::fromStdString(path)));
}

void SetupDocument::replaceText(std::string text)
{
    m_text = std::move(text);
    read();
    emit changed();
    emit nameChanged();
}

void SetupDocument::load(std::string text, const QString& path, const QString& name,
                         std::optional<ResumePoint> resume)
{
    m_resume = std::move(resume);
    m_path = path;
    m_name = name;
    m_undo.clear();
    m_text.clear();
    read(); // What was read from the file before must not stand beside one that cannot be read.
    m_lastReadable = {};
    replaceText(std::move(text));
}

Result<void> SetupDocument::apply(const std::vector<Edit>& edits, const QString& title)
{
    if (!isReadable()) {
        return Error{ErrorCode::InvalidSetup,
                     tr("The set-up cannot be read, so nothing was changed.").toStdString(),
                     tr("Correct line %1 of the YAML first.").arg(m_failure->at.line).toStdString()};
    }
    auto text = editSetupText(m_text, edits);
    if (!text)
        return text.error();
    setText(*std::move(text), title);
    return {};
}

void SetupDocument::read()
{
    auto file = readSetup(m_text);
    m_problems = file.problems;
    m_failure.reset();
    const auto unreadable =
        std::find_if(m_problems.begin(), m_problems.end(),
                     [](const SourceProblem& problem) { return problem.grade == ProblemGrade::Unreadable; });
    if (unreadable != m_problems.end()) {
        m_failure = ReadFailure{unreadable->message, unreadable->hint, unreadable->span.begin};
        return;
    }
    const auto target = targetOf(file.setup);
    m_report = checkFile(file, target ? *target : shippedTargets().front());
    m_setup = std::move(file.setup);
    m_sources = std::move(file.map);
    m_plan = makeStepPlan(m_setup);
    m_lastReadable = QDateTime::currentDateTime();
}

} // namespace mantissa::ui
