#pragma once

#include "engine/rules/check.h"
#include "ui/bridge/task_thread.h"
#include "ui/pages/page.h"

class QStackedWidget;

namespace mantissa {
struct Preset;
}

namespace mantissa::ui {

class ActionBar;
struct BlockVerdict;
class DiagramBar;
class DiskBar;
class DocumentHeader;
class FactsForm;
class FindingsModel;
class FindingsPanel;
class Inspector;
class MessageBar;
class PalettePanel;
class PaletteStrip;
class PopOver;
class StartArea;
class StepScene;
class StepView;

/// Compose a set-up by hand and eye: palette, step diagram, findings, inspector.
class ComposePage : public Page {
    Q_OBJECT

public:
    explicit ComposePage(const PageServices& services, QWidget* parent = nullptr);

    void addToMenus(const WindowMenus& menus) override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    // Putting it together.
    QWidget* makeWorkArea();
    QWidget* makeCentre();
    void makeResumeBar();
    void connectDocument();
    void connectDiagram();
    void connectFindings();
    void connectPalette();
    void placeParts();
    void closeFlyout();

    // Following the document.
    void showDocument();
    void showBottom(bool facts);

    // What the user does.
    void applyEdits(const std::vector<Edit>& edits, const QString& title);
    void previewFix(int finding, int fix);
    void endPreview();
    void applyFix(int finding, int fix);
    void fixAllSafe();
    void clearSetting(Stage stage);
    void explain(int finding);
    void showReason(QWidget* anchor, const BlockVerdict& verdict);
    void showManualFix(const Fix& fix);
    void askStart();
    void offerModes();
    void start(const char* mode);
    void startFromPreset(const Preset& preset);
    void goBack();

    PageServices m_services;
    DocumentHeader* m_header = nullptr;
    MessageBar* m_messages = nullptr;
    ActionBar* m_resume = nullptr;
    DiskBar* m_disk = nullptr;
    QStackedWidget* m_content = nullptr;
    StartArea* m_startArea = nullptr;
    PaletteStrip* m_strip = nullptr;
    PalettePanel* m_palette = nullptr;
    QWidget* m_centre = nullptr;
    DiagramBar* m_bar = nullptr;
    StepScene* m_scene = nullptr;
    StepView* m_view = nullptr;
    QStackedWidget* m_bottom = nullptr;
    FindingsModel* m_findingsModel = nullptr;
    FindingsPanel* m_findings = nullptr;
    FactsForm* m_facts = nullptr;
    Inspector* m_inspector = nullptr;
    PopOver* m_pop = nullptr;
    TaskThread m_files; // Last: ended before the rest goes away.
};

} // namespace mantissa::ui
