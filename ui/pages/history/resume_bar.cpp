#include "ui/pages/history/resume_bar.h"

#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/tool_buttons.h"

#include <QComboBox>
#include <QIntValidator>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace mantissa::ui {

ResumeBar::ResumeBar(QWidget* parent) : Surface(&Theme::accentWeak, Qt::BottomEdge, parent)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    const auto label = [this, row](const QString& text) {
        row->addWidget(new ThemedLabel(text, uiFont(TextSize::Small), &Theme::text, this));
    };
    label(tr("Go on from the checkpoint"));
    m_from = new QComboBox(this);
    m_from->setFont(monoFont(TextSize::Small));
    m_from->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_from->setAccessibleName(tr("Checkpoint to go on from"));
    row->addWidget(m_from);
    label(tr("until, in all,"));
    m_to = new QLineEdit(this);
    m_to->setFont(monoFont(TextSize::Small));
    m_to->setMaximumWidth(130);
    m_to->setValidator(new QIntValidator(1, std::numeric_limits<int>::max(), m_to));
    m_to->setPlaceholderText(tr("as set up"));
    m_to->setAccessibleName(tr("Steps in all"));
    row->addWidget(m_to);
    row->addStretch(1);
    auto* resume = new QPushButton(icon(QStringLiteral("play"), &Theme::onAccent), tr("Resume"), this);
    resume->setProperty("role", QStringLiteral("primary"));
    auto* draft = new QPushButton(icon(QStringLiteral("compose")), tr("Change first…"), this);
    draft->setToolTip(
        tr("Opens the set-up as a draft that goes on from there: precision, strategy and ranks may "
           "be others."));
    auto* close = makeToolButton({}, QStringLiteral("close"), "flat", this);
    close->setAccessibleName(tr("Close"));
    for (auto* button : {resume, draft})
        button->setFont(uiFont(TextSize::Small, QFont::Medium));
    row->addWidget(resume);
    row->addWidget(draft);
    row->addWidget(close);
    column->addLayout(row);
    m_problem = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::stop, this);
    m_problem->setWordWrap(true);
    m_problem->hide();
    column->addWidget(m_problem);
    connect(resume, &QPushButton::clicked, this, [this] { ask(false); });
    connect(m_to, &QLineEdit::returnPressed, this, [this] { ask(false); });
    connect(draft, &QPushButton::clicked, this, [this] { ask(true); });
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void ResumeBar::setCheckpoints(const std::vector<CheckpointRecord>& checkpoints)
{
    std::vector<std::int64_t> steps;
    for (const auto& each : checkpoints)
        if (each.kept)
            steps.push_back(each.step);
    std::sort(steps.rbegin(), steps.rend());
    const auto chosen = m_from->currentData();
    m_from->clear();
    for (const auto step : steps)
        m_from->addItem((m_from->count() == 0 ? tr("after %1, the newest") : tr("after %1"))
                            .arg(counted(step + 1, tr("step"), tr("steps"))),
                        static_cast<qlonglong>(step));
    m_from->setCurrentIndex(std::max(0, m_from->findData(chosen)));
}

bool ResumeBar::hasCheckpoint() const
{
    return m_from->count() > 0;
}

void ResumeBar::open()
{
    m_problem->hide();
    show();
    m_to->setFocus(Qt::OtherFocusReason);
}

void ResumeBar::showProblem(const Error& error)
{
    m_problem->setText(QString::fromStdString(error.message + " " + error.hint));
    m_problem->show();
}

QString ResumeBar::problem() const
{
    return m_problem->isVisible() ? m_problem->text() : QString();
}

void ResumeBar::ask(bool asDraft)
{
    m_problem->hide();
    ResumeWish wish;
    if (hasCheckpoint())
        wish.fromStep = m_from->currentData().toLongLong();
    if (!m_to->text().isEmpty())
        wish.toSteps = m_to->text().toLongLong();
    emit resumeAsked(wish, asDraft);
}

} // namespace mantissa::ui
