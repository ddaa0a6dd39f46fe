#include "ui/document/disk_watch.h"

#include <QFileInfo>
#include <QGuiApplication>
#include <QWindow>

#include <utility>

namespace mantissa::ui {
namespace {

/// Programs that save with a backup leave the name free for a moment.
constexpr std::chrono::milliseconds kSettle{250};

} // namespace

DiskWatch::DiskWatch(SetupDocument& document, QObject* parent) : QObject(parent), m_document(document)
{
    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettle);
    const auto settle = [this] {
        if (!m_settle.isActive()) // A folder that never comes to rest must not put this off for ever.
            m_settle.start();
    };
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, settle);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, settle);
    connect(&m_settle, &QTimer::timeout, this, &DiskWatch::look);
    connect(&m_document, &SetupDocument::fileKnown, this, &DiskWatch::look);
    connect(qApp, &QGuiApplication::focusWindowChanged, this, [this](const QWindow* window) {
        if (window)
            look();
    });
    look();
}

void DiskWatch::look()
{
    follow();
    const auto file = m_document.onDisk();
    const bool gone = file == FileOnDisk::Gone;
    if (gone && !std::exchange(m_gone, gone))
        m_document.setUnsaved();
    m_gone = gone;
    emit looked(file);
}

/// Anew each time: a file that was replaced is another one under the same name. Its folder tells of that.
void DiskWatch::follow()
{
    const auto watched = m_watcher.files() + m_watcher.directories();
    if (!watched.isEmpty())
        m_watcher.removePaths(watched);
    const auto path = m_document.path();
    if (path.isEmpty())
        return;
    for (const auto& each : {path, QFileInfo(path).absolutePath()})
        if (QFileInfo::exists(each))
            m_watcher.addPath(each);
}

} // namespace mantissa::ui
