#pragma once

#include "engine/core/result.h"
#include "ui/document/disk_watch.h"
#include "ui/widgets/action_bar.h"

namespace mantissa::ui {

/// Says that another program changed or removed the open file, and offers both ways to go on.
class DiskBar : public ActionBar {
    Q_OBJECT

public:
    explicit DiskBar(SetupDocument& document, QWidget* parent = nullptr);

    QPushButton& reloadButton() const { return *m_reload; }
    QPushButton& keepButton() const { return *m_keep; }

signals:
    void refused(const mantissa::Error& error);

private:
    void tell(FileOnDisk file);
    void reload();

    SetupDocument& m_document;
    QPushButton* m_reload = nullptr;
    QPushButton* m_keep = nullptr;
    DiskWatch m_watch;
};

} // namespace mantissa::ui
