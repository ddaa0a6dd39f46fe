#include "ui/document/kept_draft.h"
#include "ui/document/setup_document.h"
#include "ui/main_window.h"
#include "ui/widgets/panels.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSettings>

namespace mantissa::ui {
namespace {

QString fileFilter()
{
    return MainWindow::tr("LightningCLI set-ups (*.yaml *.yml);;All files (*)");
}

} // namespace

void MainWindow::openFile(const QString& path)
{
    if (!mayDiscard())
        return;
    if (const auto opened = m_services.document.open(path); !opened) {
        m_messages->showError(opened.error());
        return;
    }
    m_messages->hide();
    showPage(QStringLiteral("compose"));
}

void MainWindow::openLastFile()
{
    const auto path = QSettings().value(QStringLiteral("window/lastFile")).toString();
    if (QFileInfo(path).isFile())
        openFile(path);
}

bool MainWindow::restoreDraft(const QString& path)
{
    const auto draft = keptDraft();
    if (!draft || (!path.isEmpty() && QFileInfo(path).absoluteFilePath() != draft->path))
        return false;
    forgetDraft();
    m_services.document.restore(*draft);
    m_messages->showNote(tr("The program was ended before this was saved. Here it is as it was left."));
    showPage(QStringLiteral("compose"));
    return true;
}

void MainWindow::chooseFile()
{
    const auto start = QFileInfo(m_services.document.path()).absolutePath();
    const auto path = QFileDialog::getOpenFileName(this, tr("Open a set-up"), start, fileFilter());
    if (!path.isEmpty())
        openFile(path);
}

bool MainWindow::mayDiscard()
{
    if (!m_services.document.isModified())
        return true;
    const QScopedValueRollback asking(m_asking, true);
    QMessageBox box(QMessageBox::Question, tr("Unsaved changes"),
                    tr("%1 has changes that are not saved.").arg(m_services.document.name()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
    case QMessageBox::Save:
        return save();
    case QMessageBox::Discard:
        return true;
    default:
        return false;
    }
}

bool MainWindow::save()
{
    const auto path = m_services.document.path();
    if (path.isEmpty())
        return saveAs();
    const auto file = m_services.document.onDisk();
    return file == FileOnDisk::Known ? saveTo(path) : saveOverOthers(file);
}

/// The file is not the one that was opened: only the user knows which of both is worth more.
bool MainWindow::saveOverOthers(FileOnDisk file)
{
    const QScopedValueRollback asking(m_asking, true);
    auto& document = m_services.document;
    const bool gone = file == FileOnDisk::Gone;
    QMessageBox box(QMessageBox::Warning, tr("Changed on the disk"),
                    (gone ? tr("%1 is gone: it was deleted, moved or renamed.")
                          : tr("Another program changed %1 after it was opened or saved here."))
                        .arg(document.name()),
                    QMessageBox::Cancel, this);
    auto* overwrite =
        box.addButton(gone ? tr("Write it again") : tr("Overwrite it"), QMessageBox::AcceptRole);
    auto* reload = gone ? nullptr : box.addButton(tr("Reload"), QMessageBox::DestructiveRole);
    auto* elsewhere = box.addButton(tr("Save as…"), QMessageBox::ActionRole);
    overwrite->setObjectName(QStringLiteral("overwrite"));
    elsewhere->setObjectName(QStringLiteral("elsewhere"));
    if (reload) {
        reload->setObjectName(QStringLiteral("reload"));
        box.setInformativeText(tr("Reload puts the file in place of what is open; undo brings that back."));
    }
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() == overwrite)
        return saveTo(document.path());
    if (box.clickedButton() == elsewhere)
        return saveAs();
    if (reload && box.clickedButton() == reload)
        if (const auto reloaded = document.reload(); !reloaded)
            m_messages->showError(reloaded.error());
    return false;
}

bool MainWindow::saveAs()
{
    const auto current = m_services.document.path();
    auto path = QFileDialog::getSaveFileName(
        this, tr("Save the set-up"), current.isEmpty() ? m_services.document.name() : current, fileFilter());
    if (path.isEmpty())
        return false;
    if (QFileInfo(path).suffix().isEmpty())
        path += QStringLiteral(".yaml");
    return saveTo(path);
}

bool MainWindow::saveTo(const QString& path)
{
    if (const auto saved = m_services.document.save(path); !saved) {
        m_messages->showError(saved.error());
        return false;
    }
    m_messages->hide();
    return true;
}

} // namespace mantissa::ui
