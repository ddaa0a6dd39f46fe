#pragma once

#include "ui/bridge/engine_loader.h"
#include "ui/document/setup_document.h"
#include "ui/main_window.h"
#include "ui/pages/navigation.h"
#include "ui/theme/appearance.h"

#include <filesystem>

namespace mantissa {

struct WorkbenchOptions {
    std::filesystem::path history; ///< Empty: the default place.
    QString file; ///< The set-up to open; empty: the last one.
};

/// Makes everything the window needs and joins it. No logic.
class Workbench {
public:
    explicit Workbench(const WorkbenchOptions& options);
    void show();
    void end(int exitCode) { m_window.end(exitCode); }

private:
    ui::Appearance m_appearance;
    ui::Navigation m_navigation;
    ui::SetupDocument m_document;
    ui::EngineLoader m_engine;
    ui::MainWindow m_window;
};

} // namespace mantissa
