#include "ui/document/setup_document.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include <utility>

namespace mantissa::ui {

/// One change of the text, with what was before and after.
class TextCommand : public QUndoCommand {
public:
    TextCommand(SetupDocument& document, std::string after, const QString& title, int mergeKey)
        : QUndoCommand(title), m_document(document), m_before(document.text()), m_after(std::move(after)),
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
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        return Error{ErrorCode::Io, tr("%1 cannot be opened: %2.").arg(path, file.errorString()).toStdString(),
                     tr("Check that the file is there and may be read.").toStdString()};
    }
    constexpr qint64 kMost = 4 * 1024 * 1024;
    if (file.size() > kMost) {
        return Error{ErrorCode::InvalidSetup,
                     tr("%1 is larger than 4 MiB: that is no set-up.").arg(path).toStdString(),
                     tr("Choose the YAML file that LightningCLI takes with --config.").toStdString()};
    }
    const auto bytes = file.readAll();
    load(bytes.toStdString(), QFileInfo(path).absoluteFilePath(), QFileInfo(path).fileName(), false);
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
    m_draft = false;
    m_undo.setClean();
    emit nameChanged();
    return {};
}

void SetupDocument::startFrom(std::string text, const QString& name)
{
    load(std::move(text), {}, name, true);
}

void SetupDocument::setText(std::string text, const QString& title, int mergeKey)
{
    if (text != m_text)
        m_undo.push(new TextCommand(*this, std::move(text), title, mergeKey));
}

void SetupDocument::replaceText(std::string text)
{
    m_text = std::move(text);
    read();
    emit changed();
    emit nameChanged();
}

void SetupDocument::load(std::string text, const QString& path, const QString& name, bool draft)
{
    m_path = path;
    m_name = name;
    m_draft = draft;
    m_setup = {};
    m_lastReadable = {};
    m_undo.clear();
    replaceText(std::move(text));
}

void SetupDocument::read()
{
    m_failure.reset();
    m_lastReadable = QDateTime::currentDateTime();
}

} // namespace mantissa::ui
