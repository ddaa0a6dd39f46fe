#include "ui/pages/compose/compose_page.h"

#include "engine/recipe/presets.h"
#include "ui/bridge/stored_run.h"
#include "ui/diagram/step_scene.h"
#include "ui/diagram/step_view.h"
#include "ui/document/setup_document.h"
#include "ui/models/findings_model.h"
#include "ui/pages/compose/diagram_bar.h"
#include "ui/pages/compose/disk_bar.h"
#include "ui/pages/compose/document_header.h"
#include "ui/pages/compose/facts_form.h"
#include "ui/pages/compose/findings_panel.h"
#include "ui/pages/compose/inspector.h"
#include "ui/pages/compose/palette_panel.h"
#include "ui/pages/compose/palette_strip.h"
#include "ui/pages/compose/stage_form.h"
#include "ui/pages/compose/start_area.h"
#include "ui/pages/navigation.h"
#include "ui/text/format.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/pop_over.h"

#include <QApplication>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

constexpr int kDocked = 1360; ///< From this page width on the palette is a panel of its own.
constexpr int kPaletteWidth = 176;
constexpr int kFlyoutWidth = 296;
constexpr int kDiagramWidth = 888;
constexpr int kLeastDiagram = 367;
constexpr int kLeastBottom = 150;
constexpr int kUsualBottom = 200;

} // namespace

ComposePage::ComposePage(const PageServices& services, QWidget* parent) : Page(parent), m_services(services)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_header = new DocumentHeader(m_services.document, m_services.engine, this);
    m_messages = new MessageBar(this);
    m_content = new QStackedWidget(this);
    m_startArea = new StartArea(m_content);
    m_content->addWidget(m_startArea);
    m_content->addWidget(makeWorkArea());
    makeResumeBar();
    m_disk = new DiskBar(m_services.document, this);
    column->addWidget(m_header);
    column->addWidget(m_messages);
    column->addWidget(m_disk);
    column->addWidget(m_resume);
    column->addWidget(m_content, 1);
    m_pop = new PopOver(this);

    connectDocument();
    connectDiagram();
    connectFindings();
    connectPalette();
    showDocument();
    m_files.run([history = m_services.history] { return lookAtHistory(history); },
                [this](const Result<void>& history) {
                    if (!history) // Nothing that is started could be stored.
                        m_messages->showError(history.error());
                });
}

void ComposePage::makeResumeBar()
{
    m_resume = new ActionBar(Tone::Info, this);
    auto* afresh = m_resume->addButton(tr("Start afresh instead"), {}, false);
    connect(afresh, &QPushButton::clicked, &m_services.document, &SetupDocument::dropResume);
    m_resume->hide();
}

QWidget* ComposePage::makeWorkArea()
{
    auto* area = new QWidget(m_content);
    auto* row = new QHBoxLayout(area);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    m_palette = new PalettePanel(m_services.document, area);
    m_strip = new PaletteStrip(m_palette->groupTitles(), area);
    row->addWidget(m_strip);
    row->addWidget(m_palette);
    row->addWidget(makeCentre(), 1);
    m_inspector = new Inspector(m_services.document, area);
    row->addWidget(m_inspector);
    return area;
}

QWidget* ComposePage::makeCentre()
{
    m_centre = new QWidget(this);
    auto* column = new QVBoxLayout(m_centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_bar = new DiagramBar(m_centre);
    m_scene = new StepScene(this);
    m_view = new StepView(*m_scene, m_centre);
    m_bottom = new QStackedWidget(m_centre);
    m_findingsModel = new FindingsModel(this);
    m_findings = new FindingsPanel(*m_findingsModel, m_bottom);
    m_facts = new FactsForm(m_services.document, m_bottom);
    m_bottom->addWidget(m_findings);
    m_bottom->addWidget(m_facts);
    column->addWidget(m_bar);
    column->addWidget(m_view, 1);
    column->addWidget(m_bottom);
    return m_centre;
}

void ComposePage::connectDocument()
{
    connect(&m_services.document, &SetupDocument::changed, this, &ComposePage::showDocument);
    connect(&m_services.navigation, &Navigation::factsAsked, this, [this] { showBottom(true); });
    connect(&m_services.navigation, &Navigation::runningChanged, m_header, &DocumentHeader::setRunning);
    connect(&m_services.appearance, &Appearance::themeChanged, this, &ComposePage::showDocument);
    connect(&m_services.document, &SetupDocument::fileKnown, m_messages, &QWidget::hide);
    connect(&m_services.navigation, &Navigation::runningChanged, m_messages, &QWidget::hide);
    connect(m_disk, &DiskBar::refused, m_messages, &MessageBar::showError);
    connect(m_facts, &FactsForm::refused, m_messages, &MessageBar::showError);
    connect(m_facts, &FactsForm::done, this, [this] { showBottom(false); });
    connect(m_header, &DocumentHeader::fixAllAsked, this, &ComposePage::fixAllSafe);
    connect(m_header, &DocumentHeader::startAsked, this, &ComposePage::askStart);
    connect(m_inspector, &Inspector::goBackAsked, this, &ComposePage::goBack);
    connect(&m_inspector->form(), &StageForm::errorRaised, this, [this](const QString& message) {
        m_messages->showError({ErrorCode::InvalidSetup, message.toStdString(), {}});
    });
    connect(m_startArea, &StartArea::presetChosen, this, &ComposePage::startFromPreset);
    connect(m_startArea, &StartArea::openAsked, &m_services.navigation, &Navigation::openAsked);
}

void ComposePage::connectDiagram()
{
    connect(m_bar, &DiagramBar::unfoldedChanged, m_scene, &StepScene::setRanksUnfolded);
    connect(m_scene, &StepScene::stageOpened, this,
            [this](Stage stage, const QString& path) { m_inspector->openStage(stage, path); });
    connect(m_scene, &StepScene::stageFocused, this,
            [this](Stage stage) { m_inspector->form().showStage(stage); });
    connect(m_view, &StepView::openAsked, this, [this](Stage stage) {
        m_inspector->openStage(stage);
        m_inspector->form().focusFirst();
    });
    connect(m_view, &StepView::clearAsked, this, &ComposePage::clearSetting);
}

void ComposePage::connectFindings()
{
    connect(m_findings, &FindingsPanel::fixPreviewed, this, &ComposePage::previewFix);
    connect(m_findings, &FindingsPanel::previewEnded, this, &ComposePage::endPreview);
    connect(m_findings, &FindingsPanel::fixChosen, this, &ComposePage::applyFix);
    connect(m_findings, &FindingsPanel::explainAsked, this, &ComposePage::explain);
    connect(m_findings, &FindingsPanel::selectionChanged, this, [this](int row) {
        const auto stage = m_findingsModel->findings()[static_cast<std::size_t>(row)].stage;
        m_inspector->form().showStage(stage);
    });
}

void ComposePage::connectPalette()
{
    connect(m_palette, &PalettePanel::editsChosen, this,
            [this](const std::vector<Edit>& edits, const QString& title) { applyEdits(edits, title); });
    connect(m_palette, &PalettePanel::reasonAsked, this, &ComposePage::showReason);
    connect(m_strip, &PaletteStrip::groupPressed, this, [this](int group) {
        const bool open = m_palette->isVisible() && m_palette->group() == group;
        m_strip->setOpen(open ? -1 : group);
        m_palette->setVisible(!open);
        m_palette->showGroup(group);
        placeParts();
        if (!open)
            m_palette->focusFirst();
    });
    connect(m_palette, &PalettePanel::closeAsked, this, [this] {
        closeFlyout();
        m_view->setFocus(Qt::OtherFocusReason);
    });
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (now && m_centre->isAncestorOf(now)) // Who goes on in the diagram wants to see it.
            closeFlyout();
    });
}

void ComposePage::closeFlyout()
{
    if (width() >= kDocked)
        return;
    m_strip->setOpen(-1);
    m_palette->hide();
}

void ComposePage::showDocument()
{
    auto& document = m_services.document;
    const bool empty = document.text().empty() && document.path().isEmpty();
    m_content->setCurrentIndex(empty ? 0 : 1);
    m_header->setVisible(!empty);
    const auto& resume = document.resume();
    m_resume->setVisible(resume.has_value());
    if (resume)
        m_resume->setTexts(tr("Start goes on after %1 of run %2.")
                               .arg(counted(resume->parentStep + 1, tr("step"), tr("steps")),
                                    QString::fromStdString(resume->parentRun)),
                           tr("Precision, strategy and the number of ranks may be others than that run's."));
    m_scene->setPlan(document.plan(), document.report().findings);
    m_bar->setWorldSize(document.plan().worldSize);
    m_findings->setSuppressed(static_cast<int>(document.report().suppressed.size()));
    m_findingsModel->setFindings(document.isReadable() ? document.report().findings : std::vector<Finding>{});
    if (const auto& failure = document.failure()) {
        const auto time = document.lastReadable();
        m_scene->setVeil(time.isValid()
                             ? tr("Last readable set-up, %1").arg(time.toString(QStringLiteral("HH:mm:ss")))
                             : tr("Nothing could be read yet"));
        m_findings->setNotice(
            tr("Not checked: line %1, column %2. %3 %4")
                .arg(failure->at.line)
                .arg(failure->at.column)
                .arg(QString::fromStdString(failure->message), QString::fromStdString(failure->hint)));
    } else if (document.isEmpty()) {
        m_findings->setNotice(
            tr("There is no setting in it. Check that this is the right file and that it was "
               "saved, or begin with the palette."));
        m_scene->setVeil({});
    } else {
        const auto assumed = document.report().assumed.size();
        if (document.report().findings.empty() && assumed > 0)
            m_findings->setNotice(tr("Nothing found, with %1 assumed about your module: see the facts below. "
                                     "What no rule knows, only a run can show.")
                                      .arg(assumed == 1 ? tr("1 fact") : tr("%1 facts").arg(assumed)));
        m_scene->setVeil({});
    }
    placeParts();
}

void ComposePage::showBottom(bool facts)
{
    m_bottom->setCurrentIndex(facts ? 1 : 0);
    placeParts();
    if (facts)
        m_facts->setFocus(Qt::OtherFocusReason);
}

void ComposePage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    placeParts();
}

void ComposePage::placeParts()
{
    const bool docked = width() >= kDocked;
    m_inspector->setFixedWidth(docked ? 304 : 280);
    m_strip->setVisible(!docked);
    auto* row = static_cast<QHBoxLayout*>(m_content->widget(1)->layout());
    const bool inRow = row->indexOf(m_palette) >= 0;
    if (docked) {
        if (!inRow)
            row->insertWidget(1, m_palette);
        m_palette->setFixedWidth(std::clamp(width() - kDiagramWidth - 304, kPaletteWidth, kFlyoutWidth));
        m_palette->setMaximumHeight(QWIDGETSIZE_MAX);
        m_palette->setMinimumHeight(0);
        m_palette->showGroup(-1);
        m_palette->show();
    } else if (!docked && inRow) {
        row->removeWidget(m_palette);
        m_palette->hide();
        m_strip->setOpen(-1);
    }
    if (!docked) { // A flyout over the diagram.
        const int height = std::min(m_palette->contentHeight(), m_content->height() - 12);
        m_palette->setFixedSize(kFlyoutWidth, height);
        m_palette->move(m_strip->width(), 6);
        m_palette->raise();
    }
    const int room = m_content->height() - m_bar->height();
    const int most = std::max(kLeastBottom, std::min(m_content->height() * 2 / 5, room - kLeastDiagram));
    const int wanted = m_bottom->currentIndex() == 1 ? most : m_findings->sizeHint().height();
    m_bottom->setFixedHeight(std::clamp(wanted, std::min(kUsualBottom, most), most));
}

} // namespace mantissa::ui
