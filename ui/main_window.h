#pragma once

#include "ui/document/setup_document.h"
#include "ui/pages/page.h"

#include <QMainWindow>

#include <optional>
#include <string>
#include <vector>

class QStackedWidget;

namespace mantissa::ui {

class MessageBar;
class Rail;
class StatusLine;

/// The window: menus, rail, the pages of the page catalogue, status line.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(const PageServices& services, QWidget* parent = nullptr);

    void showPage(int index);
    void showPage(const QString& id);
    Page* page(const QString& id) const;

    /// Opens a file after asking about unsaved changes; errors are shown in the window.
    void openFile(const QString& path);
    /// The file that was open when the program was closed, where it is still there.
    void openLastFile();
    /// Goes on with what was not saved when the program was ended, if that is of this file (empty: of any).
    bool restoreDraft(const QString& path = {});
    /// Closes without a question, as a signal asks for: what is not saved is kept for the next start, a run
    /// stops with its checkpoint, and the program ends with that code.
    void end(int exitCode);

protected:
    void showEvent(QShowEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void buildPages();
    void buildMenus();
    void buildFileMenu(QMenu& menu);
    void buildViewMenu(QMenu& menu);
    void showTitle();
    void showStatus();
    void restorePlace();

    bool mayLeaveText();
    bool mayDiscard();
    void leave();
    bool save();
    bool saveAs();
    void chooseFile();
    bool saveTo(const QString& path);
    bool saveOverOthers(FileOnDisk file);

    PageServices m_services;
    WindowMenus m_menus;
    Rail* m_rail = nullptr;
    QStackedWidget* m_stack = nullptr;
    StatusLine* m_status = nullptr;
    MessageBar* m_messages = nullptr;
    std::vector<Page*> m_pages;
    std::optional<std::string> m_answeredFor; ///< The text whose loss the user accepted when closing.
    std::optional<int> m_exitCode; ///< The program was told to end.
    bool m_leaving = false;
    bool m_asking = false; ///< About unsaved changes, in a box of its own; closing waits for the answer.
};

} // namespace mantissa::ui
