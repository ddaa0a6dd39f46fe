#include "ui/pages/run/closing.h"

#include "ui/bridge/run_launcher.h"
#include "ui/widgets/action_bar.h"

#include <QCoreApplication>
#include <QPushButton>

namespace mantissa::ui {
namespace {

constexpr std::chrono::milliseconds kLook{50};

} // namespace

Closing::Closing(RunLauncher& launcher, QWidget* page, std::function<void()> leave)
    : QObject(page), m_launcher(launcher), m_bar(new ActionBar(Tone::Warn, page)), m_leave(std::move(leave))
{
    m_bar->hide();
    m_stopButton = m_bar->addButton(tr("Stop the run and close"), QStringLiteral("stop"), true);
    m_keepButton = m_bar->addButton({}, {}, false);
    connect(m_stopButton, &QPushButton::clicked, this, &Closing::stop);
    connect(m_keepButton, &QPushButton::clicked, this, [this] { enter(Phase::Open); });
    connect(&m_poll, &QTimer::timeout, this, &Closing::look);
    connect(&m_launcher, &RunLauncher::starting, this, [this] { enter(Phase::Open); });
}

bool Closing::mayClose()
{
    if (m_launcher.settled()) {
        enter(Phase::Open);
        leaveAtOnce(m_launcher.leftRanksBehind());
        return true;
    }
    if (m_phase == Phase::GivenUp)
        return true;
    if (m_phase == Phase::Open && m_launcher.isStopAsked())
        stop(); // That it shall stop was said before.
    else if (m_phase == Phase::Open)
        enter(Phase::Asking);
    return false;
}

bool Closing::mayEnd()
{
    if (m_phase == Phase::Asking || (m_phase == Phase::Open && !m_launcher.settled()))
        stop();
    m_keepButton->hide();
    return mayClose();
}

void Closing::enter(Phase phase)
{
    m_phase = phase;
    m_bar->setVisible(phase != Phase::Open);
    m_stopButton->setVisible(phase == Phase::Asking);
    switch (phase) {
    case Phase::Open:
        m_poll.stop();
        return;
    case Phase::Asking:
        m_bar->setTexts(
            tr("A run is going."),
            tr("Closing stops it after this step. Every recorded value is kept, and a checkpoint is "
               "written."));
        m_keepButton->setText(tr("Keep running"));
        m_stopButton->setFocus(Qt::OtherFocusReason);
        break;
    case Phase::Stopping:
        m_bar->setTexts(tr("Stopping, then the window closes…"),
                        tr("The step is finished, the checkpoint written and the history closed."));
        m_keepButton->setText(tr("Keep the window open"));
        break;
    case Phase::GivenUp:
        m_bar->setTexts(tr("A rank does not answer."),
                        tr("Closing ends the program without it. What was recorded up to now is stored; the "
                           "run is listed as interrupted."));
        break;
    }
    m_poll.start(kLook);
}

void Closing::stop()
{
    m_waited = {};
    enter(Phase::Stopping);
    m_launcher.stop();
}

void Closing::look()
{
    if (m_launcher.settled()) {
        const bool wanted = m_phase == Phase::Stopping;
        enter(Phase::Open); // Where the run ended by itself there is nothing left to ask.
        leaveAtOnce(m_launcher.leftRanksBehind());
        if (wanted)
            emit allowed();
        return;
    }
    if (m_phase != Phase::Stopping)
        return;
    m_waited += kLook;
    if (m_waited < m_patience)
        return;
    enter(Phase::GivenUp);
    leaveAtOnce(true);
    emit allowed();
}

/// Leaving main while a rank is inside LibTorch aborts, and waiting for it never ends.
void Closing::leaveAtOnce(bool wanted)
{
    disconnect(m_quitting);
    if (wanted)
        m_quitting = connect(qApp, &QCoreApplication::aboutToQuit, this, m_leave);
}

} // namespace mantissa::ui
