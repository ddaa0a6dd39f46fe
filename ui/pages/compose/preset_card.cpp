#include "ui/pages/compose/preset_card.h"

#include "engine/recipe/setup_file.h"
#include "engine/rules/check.h"
#include "ui/text/convert.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"
#include "ui/widgets/severity.h"

#include <QPainter>

namespace mantissa::ui {
namespace {

constexpr int kPadding = 12;
constexpr int kTitle = 20;
constexpr int kVerdict = 18;

} // namespace

PresetCard::PresetCard(const Preset& preset, QWidget* parent)
    : QAbstractButton(parent), m_sentence(toQt(preset.sentence))
{
    setText(toQt(preset.title));
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);

    const auto file = readSetup(preset.yaml);
    const auto target = targetOf(file.setup);
    const auto report = check(file.setup, target ? *target : shippedTargets().front());
    if (!report.findings.empty() && report.findings.front().severity <= Severity::Differs) {
        const auto& worst = report.findings.front();
        m_tone = severityTone(worst.severity);
        m_verdict = severityTitle(worst.severity, worst.stage);
    } else {
        m_verdict = QString::fromStdString(report.here.words);
        m_tone = report.here.verdict == Verdict::Runs ? Tone::Ok : Tone::Info;
    }
    setAccessibleName(text());
    setAccessibleDescription(m_sentence + QLatin1Char(' ') + m_verdict);
}

int PresetCard::heightForWidth(int width) const
{
    const QFontMetrics small(uiFont(TextSize::Small));
    const auto words =
        small.boundingRect(QRect(0, 0, width - 2 * kPadding, 1000), Qt::TextWordWrap, m_sentence);
    return kPadding + kTitle + 4 + words.height() + 10 + kVerdict + kPadding;
}

void PresetCard::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto& colours = theme();
    const auto box = QRectF(rect()).adjusted(1, 1, -1, -1);
    paintBox(painter, box, underMouse() ? colours.hover : colours.panel,
             showsFocus(*this) ? QPen(colours.accent, 2)
                               : QPen(underMouse() ? colours.borderStrong : colours.border, 1));
    const QRect inner = rect().adjusted(kPadding, kPadding, -kPadding, -kPadding);
    painter.setFont(uiFont(TextSize::Base, QFont::DemiBold));
    painter.setPen(colours.text);
    painter.drawText(QRect(inner.left(), inner.top(), inner.width(), kTitle),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(text(), Qt::ElideRight, inner.width()));
    painter.setFont(uiFont(TextSize::Small));
    painter.setPen(colours.text2);
    painter.drawText(inner.adjusted(0, kTitle + 4, 0, -kVerdict), Qt::TextWordWrap | Qt::AlignLeft,
                     m_sentence);
    const auto ink = toneColours(colours, m_tone).ink;
    const QRect verdict(inner.left(), inner.bottom() - kVerdict + 1, inner.width(), kVerdict);
    paintIcon(painter, QRectF(verdict.left(), verdict.center().y() - 6, 12, 12), toneIcon(m_tone), ink);
    const auto font = uiFont(TextSize::Tiny, QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(ink);
    painter.drawText(verdict.adjusted(17, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(font).elidedText(m_verdict, Qt::ElideRight, verdict.width() - 17));
}

} // namespace mantissa::ui
