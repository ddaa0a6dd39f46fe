#include "ui/document/setup_document.h"
#include "ui/pages/navigation.h"
#include "ui/pages/run/closing.h"
#include "ui/pages/run/failure_view.h"
#include "ui/pages/run/run_page.h"
#include "ui/pages/run/run_side.h"
#include "ui/plot/run_plot.h"
#include "ui/text/format.h"
#include "ui/text/run_words.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/pill_label.h"
#include "ui/widgets/segments.h"
#include "ui/widgets/tool_buttons.h"

#include <QAction>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cstdlib>

namespace mantissa::ui {
void RunPage::buildHeader()
{
    m_header = new PageHeader(this);
    auto& row = m_header->row();
    m_name = new ThemedLabel(tr("No run"), uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, m_header);
    m_pill = new PillLabel(m_header);
    m_pill->hide();
    m_pause = new QPushButton(icon(QStringLiteral("pause")), tr("Pause"), m_header);
    m_stop = new QPushButton(icon(QStringLiteral("stop")), tr("Stop"), m_header);
    for (auto* button : {m_pause, m_stop})
        button->setFont(uiFont(TextSize::Small, QFont::Medium));
    m_stop->setToolTip(tr("Ends after the current step and writes a checkpoint"));
    m_where = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text2, m_header);
    m_inHistory = makeToolButton(tr("Show in history"), QStringLiteral("history"), "flat", m_header);
    m_openSetup = makeToolButton(tr("Open set-up"), QStringLiteral("compose"), "flat", m_header);
    row.addWidget(m_name);
    row.addWidget(m_pill);
    m_header->addSeparator();
    row.addWidget(m_pause);
    row.addWidget(m_stop);
    row.addStretch(1);
    row.addWidget(m_where);
    m_resume = makeToolButton(tr("Resume…"), QStringLiteral("play"), "flat", m_header);
    m_resume->setToolTip(tr("Go on from a checkpoint, as a run of its own"));
    row.addWidget(m_resume);
    row.addWidget(m_inHistory);
    connect(m_resume, &QToolButton::clicked, this, &RunPage::askResume);
    row.addWidget(m_openSetup);
    connect(m_pause, &QPushButton::clicked, this, &RunPage::pauseOrResume);
    connect(m_stop, &QPushButton::clicked, this, [this] { m_launcher.stop(); });
    connect(m_openSetup, &QToolButton::clicked, this, &RunPage::openSetup);
    connect(m_inHistory, &QToolButton::clicked, this, &RunPage::showInHistory);
}

void RunPage::buildToolBar(QWidget* bar)
{
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(12, 0, 12, 0);
    row->setSpacing(8);
    m_views = new Segments({tr("Plots"), tr("Failure")}, bar);
    m_views->setAccessibleName(tr("What is shown of the run"));
    m_views->hide();
    row->addWidget(m_views);
    connect(m_views, &Segments::chosen, this, [this](int index) { showFailureView(index == 1); });
    m_plotTools = new QWidget(bar);
    row->addWidget(m_plotTools, 1);
    row->addStretch(0); // Keeps the segments at the left where the tools are hidden.
    buildPlotTools(m_plotTools);
}

void RunPage::buildPlotTools(QWidget* bar)
{
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    m_following = makeToolButton(tr("Following"), QStringLiteral("follow"), "segment", bar);
    m_following->setCheckable(true);
    m_following->setChecked(true);
    m_following->setToolTip(tr("Keep the newest step in view (F)"));
    auto* everything = makeToolButton(tr("Whole run"), QStringLiteral("fit"), "flat", bar);
    everything->setToolTip(tr("Show every step (0)"));
    auto* mark = makeToolButton(tr("Next mark"), QStringLiteral("flag"), "flat", bar);
    mark->setToolTip(tr("Go to the next skipped or non-finite step (N)"));
    row->addWidget(m_following);
    row->addWidget(everything);
    row->addWidget(mark);
    row->addStretch(1);
    row->addWidget(new ThemedLabel(tr("wheel zooms · drag moves · ← → reads points"), uiFont(TextSize::Tiny),
                                   &Theme::text3, bar));
    connect(m_following, &QToolButton::toggled, m_plot, &RunPlot::setFollowing);
    connect(m_plot, &RunPlot::followingChanged, m_following, &QToolButton::setChecked);
    connect(everything, &QToolButton::clicked, m_plot, &RunPlot::showEverything);
    connect(mark, &QToolButton::clicked, m_plot, &RunPlot::goToNextMark);
}

void RunPage::buildBody()
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_header);
    m_closing = new Closing(m_launcher, this, [this] { std::_Exit(m_exitCode); });
    column->addWidget(&m_closing->bar());
    m_messages = new MessageBar(this);
    column->addWidget(m_messages);

    auto* across = new QHBoxLayout;
    across->setSpacing(0);
    column->addLayout(across, 1);
    auto* left = new QVBoxLayout;
    left->setSpacing(0);
    across->addLayout(left, 1);
    buildFailedBar();
    left->addWidget(m_failed);
    auto* bar = new Surface(&Theme::panel, Qt::BottomEdge, this);
    bar->setFixedHeight(36);
    left->addWidget(bar);
    auto* ground = new Surface(&Theme::panel, {}, this);
    auto* room = new QVBoxLayout(ground);
    room->setContentsMargins(8, 6, 4, 4);
    m_plot = new RunPlot(ground);
    m_plot->setEmptyText(tr("No run yet. Start one in Compose: Start stands at the right of its header."));
    room->addWidget(m_plot);
    m_side = new RunSide(this);
    m_failureView = new FailureView(m_side->events(), this);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(ground);
    m_stack->addWidget(m_failureView);
    left->addWidget(m_stack, 1);
    buildToolBar(bar);
    across->addWidget(m_side);
}

void RunPage::buildFailedBar()
{
    m_failed = new ActionBar(Tone::Stop, this);
    m_failed->hide();
    connect(m_failed->addButton(tr("Open set-up"), QStringLiteral("compose"), true), &QPushButton::clicked,
            this, &RunPage::openSetup);
    connect(m_failed->addButton(tr("Start again"), QStringLiteral("play"), false), &QPushButton::clicked,
            this, [this] { begin(RunRequest(m_request)); });
    m_explain = m_failed->addButton(tr("Explain"), QStringLiteral("book"), false);
    connect(m_explain, &QPushButton::clicked, this, &RunPage::explain);
    connect(m_failed->addButton(tr("Copy report"), QStringLiteral("copy"), false), &QPushButton::clicked,
            this, &RunPage::copyReport);
}

void RunPage::addToMenus(const WindowMenus& menus)
{
    m_pauseAction = menus.run->addAction(tr("&Pause"), this, &RunPage::pauseOrResume);
    m_stopAction = menus.run->addAction(tr("S&top"), this, [this] { m_launcher.stop(); });
    menus.run->addSeparator();
    menus.run->addAction(tr("&Next mark"), m_plot, &RunPlot::goToNextMark);
    menus.run->addAction(tr("&Whole run"), m_plot, &RunPlot::showEverything);
    showButtons();
}

void RunPage::showButtons()
{
    const bool going = m_launcher.run() && !m_launcher.isStarting() && !hasEnded(m_state);
    const bool paused = m_state == RunState::Paused;
    const auto pauseText = paused ? tr("Resume") : tr("Pause");
    m_pause->setText(pauseText);
    m_pause->setIcon(icon(paused ? QStringLiteral("play") : QStringLiteral("pause")));
    m_pause->setEnabled(going);
    m_stop->setEnabled(going || m_launcher.isStarting());
    m_openSetup->setVisible(!m_request.setupText.empty());
    m_inHistory->setVisible(m_launcher.run() != nullptr);
    const bool hasCheckpoint = std::any_of(m_events.begin(), m_events.end(),
                                           [](const RunEvent& event) { return event.kind == "checkpoint"; });
    m_resume->setVisible(m_launcher.run() && hasEnded(m_state) && hasCheckpoint);
    if (m_pauseAction) {
        m_pauseAction->setText(pauseText);
        m_pauseAction->setEnabled(m_pause->isEnabled());
        m_stopAction->setEnabled(m_stop->isEnabled());
    }
}

bool RunPage::mayClose()
{
    if (m_closing->mayClose())
        return true;
    emit m_services.navigation.pageAsked(QStringLiteral("run"));
    return false;
}

bool RunPage::mayEnd(int exitCode)
{
    m_exitCode = exitCode;
    if (m_closing->mayEnd())
        return true;
    emit m_services.navigation.pageAsked(QStringLiteral("run"));
    return false;
}

QString RunPage::statusText() const
{
    if (m_launcher.isStarting())
        return tr("The run is starting");
    if (!m_launcher.run())
        return tr("No run yet");
    const auto look = lookOf(m_state);
    if (m_progress.lostPoints > 0 || (!m_progress.historyTrouble.empty() && !hasEnded(m_state)))
        return tr("%1: %2 · its history is not whole").arg(m_name->text(), look.word);
    return (hasEnded(m_state) ? tr("%1: %2 · every step is stored in %3")
                              : tr("%1: %2 · recording every step into %3"))
        .arg(m_name->text(), look.word,
             QString::fromStdString(m_launcher.run()->folder().filename().string()));
}

void RunPage::pauseOrResume()
{
    if (m_state == RunState::Paused)
        m_launcher.resume();
    else
        m_launcher.pause();
}

void RunPage::openDraft(const QString& yaml)
{
    emit m_services.navigation.draftAsked(yaml, m_name->text() + QStringLiteral(".yaml"));
}

void RunPage::openSetup()
{
    if (m_services.document.text() == m_request.setupText)
        emit m_services.navigation.pageAsked(QStringLiteral("compose"));
    else
        emit m_services.navigation.draftAsked(QString::fromStdString(m_request.setupText), m_name->text());
}

} // namespace mantissa::ui
