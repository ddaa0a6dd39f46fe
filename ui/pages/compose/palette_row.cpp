#include "ui/pages/compose/palette_row.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

namespace mantissa::ui {

PaletteRow::PaletteRow(PaletteBlock block, QWidget* parent)
    : QAbstractButton(parent), m_block(std::move(block))
{
    setText(QString::fromStdString(m_block.name));
    setAttribute(Qt::WA_Hover);
    setFocusPolicy(Qt::StrongFocus);
    setFont(monoFont(TextSize::Small, QFont::Medium));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PaletteRow::setVerdict(const BlockVerdict& verdict)
{
    m_verdict = verdict;
    QStringList spoken{text()};
    if (verdict.on)
        spoken << tr("in the set-up");
    if (verdict.sign == BlockVerdict::Sign::Refused)
        spoken << tr("refused by the target");
    if (verdict.sign == BlockVerdict::Sign::CheckedOnly)
        spoken << tr("checked only, this engine cannot train it");
    setAccessibleName(spoken.join(QStringLiteral(", ")));
    setAccessibleDescription(QString::fromStdString(verdict.why));
    setToolTip(QString::fromStdString(verdict.why));
    update();
}

QSize PaletteRow::sizeHint() const
{
    return {176, std::max(24, fontMetrics().height() + 6)};
}

QRect PaletteRow::whyRect() const
{
    return m_verdict.sign == BlockVerdict::Sign::None ? QRect() : QRect(width() - 52, 0, 52, height());
}

void PaletteRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto& colours = theme();
    const bool refused = m_verdict.sign == BlockVerdict::Sign::Refused;
    if (m_verdict.on || underMouse())
        painter.fillRect(rect(), m_verdict.on ? colours.accentWeak : colours.hover);
    const auto ink = m_verdict.on ? colours.accent : refused ? colours.text3 : colours.text;
    if (m_verdict.on)
        paintIcon(painter, QRectF(8, (height() - 12) / 2.0, 12, 12), QStringLiteral("check"), ink);
    int left = 26;
    if (!m_block.dtype.empty()) {
        paintBox(painter, QRectF(left, (height() - 8) / 2.0, 8, 8),
                 dtypeColour(colours, QString::fromStdString(m_block.dtype)), Qt::NoPen, 2);
        left += 14;
    }
    const auto why = whyRect();
    const int room = width() - left - why.width() - 4;
    painter.setFont(font());
    painter.setPen(ink);
    painter.drawText(QRect(left, 0, room, height()), Qt::AlignVCenter | Qt::AlignLeft,
                     fontMetrics().elidedText(text(), Qt::ElideMiddle, room));
    if (!why.isNull()) {
        paintIcon(painter, QRectF(why.left() + 6, (height() - 12) / 2.0, 12, 12),
                  refused ? QStringLiteral("refused") : QStringLiteral("checked_only"), colours.text2);
        painter.setFont(uiFont(TextSize::Tiny, QFont::Medium));
        painter.setPen(colours.text2);
        painter.drawText(why.adjusted(22, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, tr("why"));
    }
    if (showsFocus(*this))
        paintFocusRing(painter, QRectF(rect()).adjusted(3, 2, -3, -2), 3, 0);
}

void PaletteRow::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Up:
        focusPreviousChild();
        return;
    case Qt::Key_Down:
        focusNextChild();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        click();
        return;
    case Qt::Key_Space:
        if (m_verdict.sign != BlockVerdict::Sign::None)
            emit reasonAsked();
        else
            click();
        return;
    default:
        QAbstractButton::keyPressEvent(event);
    }
}

void PaletteRow::mouseReleaseEvent(QMouseEvent* event)
{
    if (whyRect().contains(event->position().toPoint())) {
        setDown(false);
        emit reasonAsked();
        return;
    }
    QAbstractButton::mouseReleaseEvent(event);
}

} // namespace mantissa::ui
