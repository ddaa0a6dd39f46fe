#include "ui/pages/compose/finding_row.h"

#include "ui/models/findings_model.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/fix_button.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/severity.h"

#include <QGridLayout>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

constexpr int kSeverityWidth = 184;

class SeverityMark : public QWidget {
public:
    SeverityMark(Tone tone, QWidget* parent) : QWidget(parent), m_tone(tone) { setFixedSize(16, 16); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        paintIcon(painter, rect(), toneIcon(m_tone), toneColours(theme(), m_tone).ink);
    }

private:
    Tone m_tone;
};

QColor Theme::*inkOf(Tone tone)
{
    switch (tone) {
    case Tone::Stop:
        return &Theme::stop;
    case Tone::Warn:
        return &Theme::warn;
    case Tone::Wasteful:
        return &Theme::waste;
    default:
        return &Theme::info;
    }
}

/// The severity's words without the stage, which has a line of its own.
QString happening(const Finding& finding)
{
    const auto title = severityTitle(finding.severity, finding.stage);
    return finding.severity == Severity::Stops ? title.section(QStringLiteral(", at "), 0, 0) : title;
}

} // namespace

FindingRow::FindingRow(const Finding& finding, QWidget* parent)
    : QWidget(parent), m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(12, 5, 12, 6);
    m_grid->setHorizontalSpacing(12);
    m_grid->setVerticalSpacing(5);
    m_grid->setColumnStretch(1, 1);
    m_severity = makeSeverity(finding);
    makeText(finding);
    makeActions(finding);
    setAccessibleName(QStringLiteral("%1: %2").arg(severityTitle(finding.severity, finding.stage),
                                                   QString::fromStdString(finding.message)));
    arrange();
}

QWidget* FindingRow::makeSeverity(const Finding& finding)
{
    const auto tone = severityTone(finding.severity);
    auto* box = new QWidget(this);
    box->setFixedWidth(kSeverityWidth);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(7);
    row->addWidget(new SeverityMark(tone, box), 0, Qt::AlignTop);
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    auto* happens =
        new ThemedLabel(happening(finding), uiFont(TextSize::Small, QFont::DemiBold), inkOf(tone), box);
    happens->setWordWrap(true);
    words->addWidget(happens);
    words->addWidget(new ThemedLabel(stageTitleText(finding.stage), uiFont(TextSize::Tiny, QFont::Medium),
                                     &Theme::text2, box));
    words->addStretch(1);
    row->addLayout(words, 1);
    return box;
}

void FindingRow::makeText(const Finding& finding)
{
    const auto what = QString::fromStdString(finding.message);
    const auto why = QString::fromStdString(finding.why);
    m_brief = new QWidget(this);
    auto* brief = new QVBoxLayout(m_brief);
    brief->setContentsMargins(0, 0, 0, 0);
    brief->setSpacing(0);
    auto* line = new ElidedLabel(what, m_brief);
    line->setFont(uiFont(TextSize::Small, QFont::Medium));
    auto* reason = new ElidedLabel(why, m_brief);
    reason->setFont(uiFont(TextSize::Tiny));
    brief->addWidget(line);
    brief->addWidget(reason);

    m_full = new QWidget(this);
    auto* full = new QVBoxLayout(m_full);
    full->setContentsMargins(0, 0, 0, 0);
    full->setSpacing(1);
    auto* message = new ThemedLabel(what, uiFont(TextSize::Small, QFont::Medium), &Theme::text, m_full);
    message->setWordWrap(true);
    full->addWidget(message);
    m_full->hide();

    m_reason = new QWidget(this);
    auto* reasons = new QVBoxLayout(m_reason);
    reasons->setContentsMargins(0, 0, 0, 0);
    reasons->setSpacing(2);
    for (auto* label :
         {new ThemedLabel(why, uiFont(TextSize::Tiny), &Theme::text, m_reason),
          new ThemedLabel(sourceText(finding), uiFont(TextSize::Tiny), &Theme::text2, m_reason)}) {
        label->setWordWrap(true);
        label->setVisible(!label->text().isEmpty());
        reasons->addWidget(label);
    }
    m_reason->hide();
}

void FindingRow::makeActions(const Finding& finding)
{
    m_actions = new QWidget(this);
    m_actions->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    auto* flow = new FlowLayout(6, m_actions);
    int index = 0;
    for (const auto& fix : finding.fixes) {
        auto* button = new FixButton(fix, m_actions);
        connect(button, &FixButton::previewStarted, this, [this, index] { emit fixPreviewed(index); });
        connect(button, &FixButton::previewEnded, this, &FindingRow::previewEnded);
        connect(button, &FixButton::clicked, this, [this, index] { emit fixChosen(index); });
        flow->addWidget(button);
        m_buttons.push_back(button);
        ++index;
    }
    auto* explain = new QToolButton(m_actions);
    explain->setText(tr("Explain"));
    explain->setFont(uiFont(TextSize::Small, QFont::Medium));
    explain->setProperty("small", true);
    explain->setProperty("role", QStringLiteral("flat"));
    explain->setFocusPolicy(Qt::StrongFocus);
    explain->setAccessibleDescription(
        tr("What the rule %1 is about").arg(QString::fromStdString(finding.rule)));
    connect(explain, &QToolButton::clicked, this, &FindingRow::explainAsked);
    flow->addWidget(explain);
    m_buttons.push_back(explain);
}

QWidget* FindingRow::firstAction() const
{
    return m_buttons.front();
}

void FindingRow::setSelected(bool selected)
{
    if (m_selected == selected)
        return;
    m_selected = selected;
    arrange();
    update();
}

void FindingRow::arrange()
{
    // Buttons never elide: where they would take more than the half of the row, they get a line of their own.
    const bool ownLine =
        m_selected || m_actions->layout()->sizeHint().width() > (width() - kSeverityWidth) / 2;
    m_arrangedOwnLine = ownLine;
    m_brief->setVisible(!m_selected);
    m_full->setVisible(m_selected);
    m_reason->setVisible(m_selected);
    for (auto* part : {m_severity, m_brief, m_full, m_actions, m_reason})
        m_grid->removeWidget(part);
    m_grid->addWidget(m_severity, 0, 0, m_selected ? 3 : ownLine ? 2 : 1, 1, Qt::AlignTop);
    m_grid->addWidget(m_selected ? m_full : m_brief, 0, 1, 1, ownLine ? 2 : 1);
    // The ways out stand before the reason, so that they are seen without scrolling.
    if (m_selected)
        m_grid->addWidget(m_reason, 2, 1, 1, 2);
    if (ownLine)
        m_grid->addWidget(m_actions, 1, 1, 1, 2);
    else
        m_grid->addWidget(m_actions, 0, 2, Qt::AlignVCenter | Qt::AlignRight);
    m_actions->setMinimumWidth(ownLine ? 0 : m_actions->layout()->sizeHint().width());
    updateGeometry();
}

void FindingRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto& colours = theme();
    painter.fillRect(rect(), m_selected ? colours.sunken : colours.panel);
    painter.fillRect(0, height() - 1, width(), 1, colours.grid);
    if (m_selected)
        painter.fillRect(0, 0, 3, height(), colours.accent);
}

void FindingRow::mousePressEvent(QMouseEvent*)
{
    emit selected();
}

void FindingRow::resizeEvent(QResizeEvent*)
{
    const bool ownLine =
        m_selected || m_actions->layout()->sizeHint().width() > (width() - kSeverityWidth) / 2;
    if (ownLine != m_arrangedOwnLine)
        arrange();
}

} // namespace mantissa::ui
