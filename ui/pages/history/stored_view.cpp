#include "ui/pages/history/stored_view.h"

#include "ui/pages/history/resume_bar.h"
#include "ui/pages/knowledge/shelf.h"
#include "ui/pages/run/failure_view.h"
#include "ui/pages/run/run_side.h"
#include "ui/plot/run_plot.h"
#include "ui/text/format.h"
#include "ui/text/run_words.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/pill_label.h"
#include "ui/widgets/plain_table.h"
#include "ui/widgets/tool_buttons.h"

#include <nlohmann/json.hpp>

#include <QDesktopServices>
#include <QHeaderView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa::ui {
namespace {

/// JSON as people read it; other text as it is.
QString readable(const std::string& json)
{
    const auto value = nlohmann::ordered_json::parse(json, nullptr, false);
    return QString::fromStdString(value.is_discarded() ? json : value.dump(2));
}

double lastTime(const StoredRun& run)
{
    double last = -1.0;
    for (const auto& series : run.series)
        if (!series.time.empty())
            last = std::max(last, series.time.back());
    return last;
}

} // namespace

StoredView::StoredView(QWidget* parent) : QWidget(parent), m_checkpoints(new CheckpointsModel(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    buildHeader();
    column->addWidget(m_header);
    m_messages = new MessageBar(this);
    column->addWidget(m_messages);
    m_resumeBar = new ResumeBar(this);
    column->addWidget(m_resumeBar);
    connect(m_resumeBar, &ResumeBar::resumeAsked, this, &StoredView::resumeAsked);
    auto* across = new QHBoxLayout;
    across->setSpacing(0);
    column->addLayout(across, 1);
    auto* left = new QVBoxLayout;
    left->setSpacing(0);
    across->addLayout(left, 1);

    m_failed = new ActionBar(Tone::Stop, this);
    m_explain = m_failed->addButton(tr("Explain"), QStringLiteral("book"), true);
    connect(m_explain, &QPushButton::clicked, this,
            [this] { emit explanationAsked(explanationOf(m_failed->title())); });
    m_failed->hide();
    left->addWidget(m_failed);
    left->addWidget(buildTabs());
    m_side = new RunSide(this);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(buildPlots());
    m_stack->addWidget(buildTexts());
    m_stack->addWidget(buildCheckpoints());
    m_failureView = new FailureView(m_side->events(), this);
    m_stack->addWidget(m_failureView);
    left->addWidget(m_stack, 1);
    across->addWidget(m_side);

    connect(m_tabs, &QTabBar::currentChanged, this, &StoredView::showTab);
    connect(m_side, &RunSide::stepChosen, m_plot, &RunPlot::setCursorNear);
    connect(m_side, &RunSide::draftAsked, this, &StoredView::askDraft);
    connect(m_side, &RunSide::resumeAsked, this, &StoredView::askResume);
    showTab(PlotsTab);
}

QWidget* StoredView::buildTabs()
{
    auto* bar = new Surface(&Theme::panel, Qt::BottomEdge, this);
    bar->setMinimumHeight(36);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(6, 0, 12, 0);
    m_tabs = new QTabBar(bar);
    m_tabs->setUsesScrollButtons(false); // Else they stay where a tab came after the first showing.
    for (const auto& title : {tr("Plots"), tr("Set-up"), tr("Checkpoints"), tr("Failure")})
        m_tabs->addTab(title);
    row->addWidget(m_tabs);
    row->addStretch(1);
    m_plotTools = new QWidget(bar);
    auto* tools = new QHBoxLayout(m_plotTools);
    tools->setContentsMargins(0, 0, 0, 0);
    auto* mark = makeToolButton(tr("Next mark"), QStringLiteral("flag"), "flat", bar);
    auto* everything = makeToolButton(tr("Whole run"), QStringLiteral("fit"), "flat", bar);
    m_rewind = makeToolButton(tr("Find the origin"), QStringLiteral("search"), "flat", bar);
    m_rewind->hide();
    connect(m_rewind, &QToolButton::clicked, this, [this] {
        emit rewindAsked(m_plot->cursorStep() ? std::llround(*m_plot->cursorStep()) : m_rewindTo);
    });
    tools->addWidget(m_rewind);
    tools->addWidget(mark);
    tools->addWidget(everything);
    row->addWidget(m_plotTools);
    connect(mark, &QToolButton::clicked, this, [this] { m_plot->goToNextMark(); });
    connect(everything, &QToolButton::clicked, this, [this] { m_plot->showEverything(); });
    return bar;
}

void StoredView::showTab(int tab)
{
    m_stack->setCurrentIndex(tab);
    m_plotTools->setVisible(tab == PlotsTab);
}

void StoredView::askDraft(const QString& yaml)
{
    emit draftAsked(yaml, QString::fromStdString(m_row.name) + QStringLiteral(".yaml"));
}

void StoredView::buildHeader()
{
    m_header = new PageHeader(this);
    auto& row = m_header->row();
    auto* back = makeToolButton(tr("All runs"), QStringLiteral("chevron_left"), "flat", m_header);
    back->setShortcut(QKeySequence(Qt::ALT | Qt::Key_Left));
    row.addWidget(back);
    m_header->addSeparator();
    m_name = new ThemedLabel({}, uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, m_header);
    m_pill = new PillLabel(m_header);
    m_when = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text2, m_header);
    row.addWidget(m_name);
    row.addWidget(m_pill);
    row.addWidget(m_when);
    row.addStretch(1);
    auto* folder = makeToolButton(tr("Open folder"), QStringLiteral("folder"), "flat", m_header);
    m_draft = makeToolButton(tr("Open as a new draft"), QStringLiteral("compose"), "", m_header);
    m_resume = makeToolButton(tr("Resume…"), QStringLiteral("play"), "", m_header);
    m_resume->setToolTip(tr("Go on from a checkpoint, as a run of its own"));
    connect(m_resume, &QToolButton::clicked, this, &StoredView::askResume);
    row.addWidget(m_resume);
    row.addWidget(folder);
    row.addWidget(m_draft);
    connect(back, &QToolButton::clicked, this, &StoredView::backAsked);
    connect(folder, &QToolButton::clicked, this, [this] {
        QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(m_row.folder.string())));
    });
    connect(m_draft, &QToolButton::clicked, this, [this] { askDraft(setupText()); });
}

QWidget* StoredView::buildPlots()
{
    auto* ground = new Surface(&Theme::panel, {}, this);
    auto* room = new QVBoxLayout(ground);
    room->setContentsMargins(8, 6, 4, 4);
    m_plot = new RunPlot(ground);
    room->addWidget(m_plot);
    return ground;
}

QWidget* StoredView::buildTexts()
{
    auto* ground = new Surface(&Theme::panel, {}, this);
    auto* room = new QVBoxLayout(ground);
    room->setContentsMargins(12, 8, 12, 12);
    m_textTabs = new QTabBar(ground);
    for (const auto& title : {tr("As written"), tr("Effective"), tr("Findings"), tr("Machine")})
        m_textTabs->addTab(title);
    m_text = new QPlainTextEdit(ground);
    m_text->setReadOnly(true);
    m_text->setFont(monoFont(TextSize::Small));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setAccessibleName(tr("Set-up of the run"));
    room->addWidget(m_textTabs, 0, Qt::AlignLeft);
    room->addWidget(m_text, 1);
    connect(m_textTabs, &QTabBar::currentChanged, this, &StoredView::showText);
    return ground;
}

QWidget* StoredView::buildCheckpoints()
{
    auto* ground = new Surface(&Theme::panel, {}, this);
    auto* room = new QVBoxLayout(ground);
    room->setContentsMargins(12, 8, 12, 12);
    m_noCheckpoints = new ThemedLabel({}, uiFont(), &Theme::text2, ground);
    auto* table = new PlainTable(26, ground);
    table->setModel(m_checkpoints);
    table->setAccessibleName(tr("Checkpoints of the run"));
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(CheckpointsModel::File, QHeaderView::Stretch);
    room->addWidget(m_noCheckpoints);
    room->addWidget(table, 1);
    return ground;
}

QString StoredView::setupText() const
{
    return QString::fromStdString(m_setup.yaml);
}

void StoredView::showText(int which)
{
    const QString texts[] = {setupText(), readable(m_setup.effective), readable(m_setup.findings),
                             readable(m_setup.environment)};
    m_text->setPlainText(texts[std::clamp(which, 0, 3)]);
}

void StoredView::offerRewind(const StoredRun& run)
{
    const auto isBroken = [](const RunEvent& event) {
        return event.kind == "nonfinite" || event.kind == "failure";
    };
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max(); // A replay goes on from a checkpoint.
    for (const auto& checkpoint : run.checkpoints)
        if (checkpoint.kept)
            earliest = std::min(earliest, checkpoint.step);
    const auto first = std::find_if(run.events.begin(), run.events.end(), isBroken);
    const auto replayed = std::find_if(first, run.events.end(), [&](const RunEvent& event) {
        return isBroken(event) && event.step > earliest;
    });
    m_rewindTo = replayed == run.events.end() ? -1 : replayed->step;
    m_rewind->setVisible(first != run.events.end() && hasEnded(run.row.state));
    m_rewind->setEnabled(m_rewindTo >= 0);
    m_rewind->setToolTip(
        m_rewindTo >= 0
            ? tr("Replays the steps up to the cursor, else up to step %1, and looks at every layer: which "
                 "layer, rank and batch made the first Inf or NaN")
                  .arg(formatCount(m_rewindTo))
            : tr("A replay goes on from a checkpoint, and there is none from before the first Inf or NaN. "
                 "ModelCheckpoint's every_n_train_steps writes some on the way."));
}

void StoredView::askResume()
{
    if (m_resume->isEnabled())
        m_resumeBar->open();
    else
        m_resumeWanted = m_row.folder.empty();
}

void StoredView::showReading(const QString& name)
{
    m_row = {};
    m_resumeWanted = false;
    m_resumeBar->hide();
    m_resume->setEnabled(false);
    m_messages->hide();
    m_name->setText(name);
    m_pill->hide();
    m_when->clear();
    m_failed->hide();
    m_tabs->setTabVisible(FailureTab, false);
    m_tabs->setCurrentIndex(PlotsTab);
    m_side->clear();
    m_plot->showRun({});
    m_plot->setEmptyText(tr("Reading the run…"));
    m_draft->setEnabled(false);
}

void StoredView::showError(const std::filesystem::path& folder, const Error& error)
{
    m_row = {};
    m_row.folder = folder;
    m_messages->showError(error);
    m_plot->setEmptyText(tr("This run cannot be read."));
    m_side->showWords({Tone::Stop, tr("This run cannot be read."), QString::fromStdString(error.hint)});
    m_pill->setContent(Tone::Stop, tr("cannot be read"));
    m_pill->show();
}

void StoredView::showProblem(const Error& error)
{
    m_messages->showError(error);
}

void StoredView::showState()
{
    const auto look = lookOf(m_row.state);
    m_name->setText(QString::fromStdString(m_row.name));
    m_pill->setContent(look.tone, QString::fromStdString(m_row.stateText), look.icon);
    m_pill->show();
    auto when = tr("%1 · %2").arg(formatTime(QString::fromStdString(m_row.started)),
                                  QString::fromStdString(m_row.host));
    if (!m_row.parentRun.empty())
        when += tr(" · goes on after %1 of %2")
                    .arg(counted(m_row.parentStep + 1, tr("step"), tr("steps")),
                         QString::fromStdString(m_row.parentRun));
    m_when->setText(when);
}

/// Only what could be read is shown, and what could not is said.
void StoredView::showDamage(const std::vector<std::string>& damage)
{
    std::string all;
    for (const auto& each : damage)
        all += (all.empty() ? "" : " ") + each;
    const Error error{
        ErrorCode::Damaged, "Parts of this run cannot be read.",
        all + " What is left is shown. A copy of the folder from before can be put in its place."};
    m_messages->showError(error);
    m_pill->setContent(Tone::Stop, tr("damaged"));
    m_side->showWords({Tone::Stop, tr("Parts of this run cannot be read."), QString::fromStdString(all)});
    m_noCheckpoints->setText(tr("No checkpoint is known: parts of this run cannot be read."));
}

void StoredView::showFailure(const std::vector<RunEvent>& events)
{
    const bool failed = m_row.state == RunState::Failed;
    m_failed->setVisible(failed);
    m_tabs->setTabVisible(FailureTab, failed);
    m_tabs->updateGeometry(); // Qt leaves that out, and the tab would have no room.
    if (!failed) {
        m_side->showAdvice({});
        return;
    }
    const auto failure = describeFailure(events, m_setup.yaml, {}, {});
    m_failed->setTexts(failure.cause.message.empty() ? tr("The run failed.")
                                                     : QString::fromStdString(failure.cause.message),
                       m_row.steps > 0 ? tr("Every step before it is stored.")
                                       : tr("It was in the first step: there is none before it."));
    m_explain->setVisible(!failure.record.isEmpty());
    m_failureView->setFailure(failure);
    m_side->showAdvice(failure.advice);
}

void StoredView::show(const StoredRun& run)
{
    const bool same = run.row.folder == m_row.folder;
    const auto range = m_plot->range();
    const auto cursor = m_plot->cursorStep();
    const bool following = m_plot->isFollowing();
    m_row = run.row;
    m_setup = run.setup;
    m_draft->setEnabled(!m_setup.yaml.empty());
    showState();

    m_plot->showRun(run.outline);
    for (const auto& series : run.series)
        m_plot->append(series);
    m_plot->setLive(!hasEnded(run.row.state));
    m_plot->setEmptyText(hasEnded(run.row.state) ? tr("This run recorded no points.")
                                                 : tr("No points yet: the first step is being made."));
    if (same && !following)
        m_plot->showSteps(range.first, range.second);
    if (same && cursor)
        m_plot->setCursorNear(*cursor);

    const RunProgress progress{run.row.steps,
                               run.row.state == RunState::Finished ? run.row.steps : 0,
                               run.skipped,
                               -1.0,
                               0,
                               run.row.lostPoints,
                               {}};
    m_side->clear();
    m_side->addEvents(run.events);
    showFailure(run.events);
    if (!same)
        m_tabs->setCurrentIndex(run.row.state == RunState::Failed ? FailureTab : PlotsTab);
    m_side->showRanks(m_plot->series());
    m_side->showProgress(progress, lastTime(run), run.row.state);
    m_side->showWords(describeRun(m_plot->series(), run.outline, progress, run.row.state));
    m_checkpoints->setCheckpoints(run.checkpoints);
    m_noCheckpoints->setText(tr("No checkpoint was written: the run ended before one was due."));
    m_noCheckpoints->setVisible(run.checkpoints.empty());
    if (!run.damage.empty())
        showDamage(run.damage);
    m_resumeBar->setCheckpoints(run.checkpoints);
    m_resume->setEnabled(hasEnded(run.row.state) && m_resumeBar->hasCheckpoint());
    m_resume->setToolTip(m_resume->isEnabled()         ? tr("Go on from a checkpoint, as a run of its own")
                             : hasEnded(run.row.state) ? tr("It left no checkpoint to go on from.")
                                                       : tr("It is still training."));
    offerRewind(run);
    if (std::exchange(m_resumeWanted, false) && m_resume->isEnabled())
        m_resumeBar->open();
    showText(m_textTabs->currentIndex());
}

} // namespace mantissa::ui
