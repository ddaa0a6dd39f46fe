#include "ui/pages/compose/disk_bar.h"

#include <QPushButton>

namespace mantissa::ui {

DiskBar::DiskBar(SetupDocument& document, QWidget* parent)
    : ActionBar(Tone::Warn, parent),
      m_document(document),
      m_reload(addButton(tr("Reload"), QStringLiteral("undo"), false)),
      m_keep(addButton(tr("Keep mine"), {}, false)),
      m_watch(document)
{
    hide();
    connect(m_reload, &QPushButton::clicked, this, &DiskBar::reload);
    connect(m_keep, &QPushButton::clicked, &m_document, &SetupDocument::keepMine);
    connect(&m_watch, &DiskWatch::looked, this, &DiskBar::tell);
}

void DiskBar::tell(FileOnDisk file)
{
    setVisible(file != FileOnDisk::Known);
    m_reload->setVisible(file == FileOnDisk::Changed);
    m_keep->setText(file == FileOnDisk::Gone ? tr("Dismiss") : tr("Keep mine"));
    if (file == FileOnDisk::Gone)
        setTexts(tr("%1 is gone from the disk.").arg(m_document.name()),
                 tr("It was deleted, moved or renamed. What is open here is kept; saving writes it anew."));
    else if (m_document.isModified())
        setTexts(tr("Another program changed %1.").arg(m_document.name()),
                 tr("Your own changes are not saved. Reload puts the file in their place; undo brings them "
                    "back."));
    else
        setTexts(tr("Another program changed %1.").arg(m_document.name()),
                 tr("What is open here is older. Reload shows the file as it is now."));
}

void DiskBar::reload()
{
    if (const auto reloaded = m_document.reload(); !reloaded)
        emit refused(reloaded.error());
}

} // namespace mantissa::ui
