#include "ui/document/setup_document.h"
#include "ui/main_window.h"
#include "ui/widgets/panels.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
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
    return path.isEmpty() ? saveAs() : saveTo(path);
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
