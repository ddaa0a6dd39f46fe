#pragma once

#include "ui/document/setup_document.h"

#include <QFileSystemWatcher>
#include <QTimer>

namespace mantissa::ui {

/// Notices that another program changed, replaced or removed the file of the open set-up: at once where the
/// file system tells it, else when a window of the program gets the focus back.
class DiskWatch : public QObject {
    Q_OBJECT

public:
    explicit DiskWatch(SetupDocument& document, QObject* parent = nullptr);

    void look();

signals:
    /// How the file stands: after each look, also where nothing changed.
    void looked(mantissa::ui::FileOnDisk file);

private:
    void follow();

    SetupDocument& m_document;
    QFileSystemWatcher m_watcher;
    QTimer m_settle;
    bool m_gone = false;
};

} // namespace mantissa::ui
