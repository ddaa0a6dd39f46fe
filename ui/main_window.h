#pragma once

#include <QMainWindow>

namespace mantissa::ui {

/// The window: rail, header and pages.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(QWidget* parent = nullptr);
};

} // namespace mantissa::ui
