#include "ui/main_window.h"

namespace mantissa::ui {

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent)
{
    setWindowTitle(tr("Mantissa"));
}

} // namespace mantissa::ui
