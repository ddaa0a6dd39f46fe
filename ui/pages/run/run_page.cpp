#include "ui/pages/run/run_page.h"

#include "engine/history/replay_check.h"
#include "ui/document/setup_document.h"
#include "ui/pages/knowledge/shelf.h"
#include "ui/pages/navigation.h"
#include "ui/pages/run/closing.h"
#include "ui/pages/run/failure_view.h"
#include "ui/pages/run/run_side.h"
#include "ui/plot/run_plot.h"
#include "ui/text/format.h"
#include "ui/text/run_words.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/pill_label.h"
#include "ui/widgets/segments.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPushButton>
#include <QStackedWidget>

#include <algorithm>

namespace mantissa::ui {

RunPage::RunPage(const PageServices& services, QWidget* parent)
    : Page(parent), m_services(services), m_launcher(services.engine)
{
    buildHeader();
    buildBody();
    showButtons();

    auto& navigation = m_services.navigation;
    connect(&navigation, &Navigation::runAsked, this, &RunPage::begin);
    connect(&m_launcher, &RunLauncher::refused, this, &RunPage::showRefused);
    connect(&m_launcher, &RunLauncher::started, this, &RunPage::showButtons);
    connect(&m_launcher, &RunLauncher::samplesArrived, this, &RunPage::takeSamples);
    connect(&m_launcher, &RunLauncher::eventsArrived, this, &RunPage::takeEvents);
    connect(&m_launcher, &RunLauncher::progressed, this, &RunPage::takeProgress);
    connect(&m_launcher, &RunLauncher::stateChanged, this, &RunPage::takeState);
    connect(m_closing, &Closing::allowed, this, &Page::closeAllowed);
    connect(m_side, &RunSide::stepChosen, m_plot, &RunPlot::setCursorNear);
    connect(m_side, &RunSide::draftAsked, this, &RunPage::openDraft);
    connect(m_side, &RunSide::resumeAsked, this, &RunPage::askResume);
}

RunPage::~RunPage() = default;

void RunPage::begin(const RunRequest& request)
{
    if (m_launcher.isBusy()) {
        m_messages->showError(
            {ErrorCode::Refused, "A run is going already.", "Stop it first, or wait for its end."});
        return;
    }
    m_request = request;
    m_outline = outlineOf(request.plan);
    m_progress = {};
    m_state = RunState::Queued;
    m_events.clear();
    m_views->hide();
    showFailureView(false);
    m_hasCatalogue = false;
    m_elapsed = -1.0;
    m_clock.invalidate();
    m_messages->hide();
    m_failed->hide();
    m_side->clear();
    m_plot->showRun(m_outline);
    showStarting();
    emit m_services.navigation.runningChanged(true);
    m_launcher.start(request);
    showButtons();
}

void RunPage::showStarting()
{
    m_name->setText(QString::fromStdString(m_request.name));
    m_where->setText(whereItRuns(m_outline));
    m_pill->setContent(Tone::Accent, tr("Starting"), QStringLiteral("clock"));
    m_pill->show();
    m_plot->setEmptyText(tr("No points yet: the engine reads the data and makes the ranks."));
    m_side->showWords(
        {Tone::Info, tr("The run is starting."), tr("Data are read, the ranks made, the weights drawn.")});
    emit statusTextChanged();
}

void RunPage::showRefused(const Error& error)
{
    m_messages->showError(error);
    m_pill->setContent(Tone::Stop, tr("Did not start"));
    m_plot->setEmptyText(tr("No points: the run did not start."));
    m_side->showWords({Tone::Stop, tr("The run did not start."), QString::fromStdString(error.hint)});
    emit m_services.navigation.runningChanged(false);
    showButtons();
    emit statusTextChanged();
}

void RunPage::takeSamples(const std::vector<Sample>& samples)
{
    if (!m_hasCatalogue) { // The series are fixed once the first sample is there.
        m_plot->showRun(m_outline, m_launcher.run()->series());
        m_plot->setLive(true);
        m_hasCatalogue = true;
    }
    m_plot->append(samples);
    m_side->showRanks(m_plot->series());
    m_side->showWords(describeRun(m_plot->series(), m_outline, m_launcher.run()->progress(), m_state));
}

void RunPage::takeEvents(const std::vector<RunEvent>& events)
{
    m_side->addEvents(events);
    m_events.insert(m_events.end(), events.begin(), events.end());
}

void RunPage::takeProgress(const RunProgress& progress)
{
    const bool troubled = progress.historyTrouble != m_progress.historyTrouble
        || (progress.lostPoints > 0) != (m_progress.lostPoints > 0);
    m_progress = progress;
    if (troubled)
        emit statusTextChanged();
    m_side->showProgress(progress, elapsedSeconds(), m_state);
}

void RunPage::takeState(const RunStateEvent& event)
{
    m_state = event.state;
    if (event.state == RunState::Running && !m_clock.isValid())
        m_clock.start();
    const auto look = lookOf(event.state);
    auto word = look.word;
    word[0] = word[0].toUpper();
    m_pill->setContent(
        look.tone,
        event.state == RunState::Failed ? tr("Failed at step %1").arg(formatCount(m_progress.step)) : word,
        look.icon);
    if (hasEnded(event.state)) {
        m_elapsed = elapsedSeconds();
        m_plot->setLive(false);
        m_plot->setEmptyText(tr("This run recorded no points."));
        emit m_services.navigation.runningChanged(false);
    }
    if (event.state == RunState::Failed)
        showFailure(event);
    else if (hasEnded(event.state) && m_request.kind == "rewind" && m_request.resume)
        compareReplay();
    m_side->showProgress(m_progress, elapsedSeconds(), m_state);
    m_side->showWords(describeRun(m_plot->series(), m_outline, m_progress, m_state));
    showButtons();
    emit statusTextChanged();
}

double RunPage::elapsedSeconds() const
{
    if (m_elapsed >= 0.0)
        return m_elapsed;
    return m_clock.isValid() ? static_cast<double>(m_clock.elapsed()) / 1000.0 : -1.0;
}

void RunPage::showFailure(const RunStateEvent& event)
{
    const auto stored = m_progress.lostPoints > 0 ? tr("The history of this run is not whole.")
        : m_plot->series().isEmpty()
        ? tr("No step was recorded.")
        : tr("Every step up to %1 is stored; nothing is damaged.")
              .arg(formatCount(static_cast<std::int64_t>(m_plot->series().lastStep())));
    m_failed->setTexts(QString::fromStdString(event.message), stored);
    const auto failure = describeFailure(m_events, m_request.setupText, event.message, event.hint);
    m_explain->setVisible(!failure.record.isEmpty());
    m_failed->show();
    m_side->showAdvice(failure.advice);
    m_failureView->setFailure(failure);
    m_views->show();
    m_views->setCurrent(1);
    showFailureView(true);
}

void RunPage::showFailureView(bool failure)
{
    m_stack->setCurrentIndex(failure ? 1 : 0);
    m_plotTools->setVisible(!failure);
}

void RunPage::explain()
{
    emit m_services.navigation.ruleAsked(explanationOf(m_failed->title()));
    emit m_services.navigation.pageAsked(QStringLiteral("knowledge"));
}

void RunPage::askResume()
{
    emit m_services.navigation.resumeAsked(QString::fromStdString(m_launcher.run()->folder().string()));
}

bool RunPage::hasOrigin() const
{
    return std::any_of(m_events.begin(), m_events.end(),
                       [](const RunEvent& event) { return event.kind == "origin"; });
}

/// A replay is worth something only where it went the way of its run: then its bits are the same.
void RunPage::compareReplay()
{
    const auto parent = m_request.resume->checkpoint.parent_path().parent_path();
    m_files.run([parent, replay = m_launcher.run()->folder()] { return checkReplay(parent, replay); },
                [this](const Result<ReplayReport>& report) {
                    if (!report)
                        m_messages->showError(report.error());
                    else if (report->differsFrom)
                        m_messages->showError({ErrorCode::Internal,
                                               "Not the same run: " + report->series + " differs from step "
                                                   + std::to_string(*report->differsFrom) + " on.",
                                               "What was found before that step holds."});
                    else
                        m_messages->showNote(
                            tr("The same run: equal bits in %1. ")
                                .arg(counted(report->steps, tr("step"), tr("steps")))
                            + (hasOrigin() ? tr("The event “began here” names layer, rank and batch.")
                                           : tr("No layer made an Inf or NaN in these steps.")));
                });
}

void RunPage::showInHistory()
{
    emit m_services.navigation.storedRunAsked(QString::fromStdString(m_launcher.run()->folder().string()));
}

void RunPage::copyReport()
{
    QStringList lines{m_name->text() + QStringLiteral(": ") + m_failed->title(), m_failed->detail()};
    lines << m_failureView->place();
    for (const auto& event : m_events)
        if (event.kind == "failure")
            lines << QString::fromStdString(event.message);
    lines << tr("Folder: %1").arg(QString::fromStdString(m_launcher.run()->folder().string()));
    lines << QString() << QString::fromStdString(m_request.setupText);
    QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

} // namespace mantissa::ui
