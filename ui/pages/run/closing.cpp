#include "ui/pages/run/closing.h"

#include "ui/bridge/run_launcher.h"
#include "ui/widgets/action_bar.h"

#include <QCoreApplication>
#include <QPushButton>

#include <chrono>

namespace mantissa::ui {
namespace {

constexpr std::chrono::milliseconds kLook{50};

} // namespace

Closing::Closing(RunLauncher& launcher, QWidget* page, std::function<void()> leave)
    : QObject(page), m_launcher(launcher), m_bar(new ActionBar(Tone::Warn, page)), m_leave(std::move(leave))
{
    m_bar->hide();
    auto* stopButton = m_bar->addButton(tr("Stop the run and close"), QStringLiteral("stop"), true);
    auto* keepButton = m_bar->addButton(tr("Keep running"), {}, false);
    m_stopButton = stopButton;
    m_keepButton = keepButton;
    connect(stopButton, &QPushButton::clicked, this, &Closing::stop);
    connect(keepButton, &QPushButton::clicked, this, &Closing::keepRunning);
    connect(&m_poll, &QTimer::timeout, this, &Closing::look);
}

bool Closing::mayClose()
{
    if (m_done)
        return true;
    if (!m_launcher.isBusy() && m_launcher.settled()) {
        if (m_launcher.leftRanksBehind())
            leaveAtOnce();
        return true;
    }
    if (!m_poll.isActive())
        ask();
    return false;
}

void Closing::ask()
{
    m_bar->setTexts(
        tr("A run is going."),
        tr("Closing stops it after this step. Every recorded value is kept, and a checkpoint is written."));
    m_stopButton->show();
    m_keepButton->show();
    m_bar->show();
    m_stopButton->setFocus(Qt::OtherFocusReason);
}

void Closing::keepRunning()
{
    m_poll.stop();
    m_bar->hide();
}

void Closing::stop()
{
    m_waited = {};
    m_stopButton->hide();
    m_keepButton->hide();
    m_bar->setTexts(tr("Stopping…"),
                    tr("The step is finished, then the checkpoint is written and the history closed."));
    m_launcher.stop();
    m_poll.start(kLook);
}

void Closing::look()
{
    m_waited += kLook;
    const bool settled = m_launcher.settled();
    if (!settled && m_waited < m_patience)
        return;
    m_poll.stop();
    m_done = true;
    if (!settled) {
        m_bar->setTexts(tr("A rank does not answer."),
                        tr("The program ends without it. What was recorded up to now is stored; the run is "
                           "listed as interrupted."));
    }
    if (!settled || m_launcher.leftRanksBehind())
        leaveAtOnce();
    emit allowed();
}

/// Leaving main while a rank is inside LibTorch aborts, and waiting for it never ends.
void Closing::leaveAtOnce()
{
    disconnect(m_quitting);
    m_quitting = connect(qApp, &QCoreApplication::aboutToQuit, this, m_leave);
}

} // namespace mantissa::ui
