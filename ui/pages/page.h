#pragma once

#include <QWidget>

#include <filesystem>

class QMenu;

namespace mantissa::ui {

class Appearance;
class EngineLoader;
class Navigation;
class SetupDocument;

/// What every page may use. All of it outlives the pages.
struct PageServices {
    SetupDocument& document; ///< The set-up that is open.
    EngineLoader& engine; ///< Loads the training engine when it is first needed.
    Navigation& navigation; ///< From one page to another.
    Appearance& appearance; ///< Tells when the theme changes.
    std::filesystem::path history; ///< The folder with all runs.
};

/// The menus of the window, for pages that add entries of their own.
struct WindowMenus {
    QMenu* file = nullptr;
    QMenu* edit = nullptr;
    QMenu* setup = nullptr;
    QMenu* run = nullptr;
    QMenu* view = nullptr;
    QMenu* help = nullptr;
};

/// A page of the rail: its own header (48 px, PageHeader) and what is below it.
class Page : public QWidget {
    Q_OBJECT

public:
    explicit Page(QWidget* parent = nullptr) : QWidget(parent) {}

    /// Called each time the page comes to the front.
    virtual void activate() {}
    /// Called once; entries stay in the menus whatever page is in front.
    virtual void addToMenus(const WindowMenus&) {}
    /// False: closing must wait. The page asks the user what it has to and emits closeAllowed() when it is
    /// done.
    virtual bool mayClose() { return true; }
    /// The program was told to end and asks nothing: false as for mayClose(). With `exitCode` a page leaves
    /// that cannot wait for all of its own.
    virtual bool mayEnd(int exitCode)
    {
        static_cast<void>(exitCode);
        return mayClose();
    }
    /// What the status bar says while the page is in front; empty: the open set-up's findings.
    virtual QString statusText() const { return {}; }

signals:
    void statusTextChanged();
    void closeAllowed();
};

} // namespace mantissa::ui
