#include "ui/diagram/step_scene.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"

#include <QFontMetricsF>
#include <QPainter>

namespace mantissa::ui {

void StepScene::drawBackground(QPainter* painter, const QRectF& rect)
{
    painter->fillRect(rect, theme().canvas);
    paintLabels(*painter);
}

void StepScene::paintLabels(QPainter& painter) const
{
    const auto& colours = theme();
    painter.setFont(uiFont(TextSize::Tiny));
    const int lanes = laneCount();
    for (const auto stage : {Stage::Data, Stage::UpdateScale}) {
        if (lanes == 0)
            break;
        const auto card = m_layout.card(stage);
        const double left = m_layout.labelLeft();
        painter.setPen(colours.text2);
        painter.drawText(QRectF(left, card.top() + 6, 36, 18), Qt::AlignRight | Qt::AlignVCenter,
                         tr("rank 0"));
        for (int lane = 0; lane < lanes; ++lane) {
            const auto box = m_layout.lane(stage, lane);
            const auto right = m_layout.card(isUpper(stage) ? Stage::Scale : Stage::Backward).right();
            painter.fillRect(QRectF(card.left(), box.center().y(), right - card.left(), 1),
                             colours.gridStrong);
            const auto words = m_unfolded ? QString::number(lane + 1)
                : m_plan.worldSize == 2   ? tr("rank 1")
                                          : tr("1 – %1").arg(m_plan.worldSize - 1);
            painter.setPen(colours.text2);
            painter.drawText(QRectF(left, box.top() - 2, 36, box.height() + 4),
                             Qt::AlignRight | Qt::AlignVCenter, words);
        }
    }
}

void StepScene::drawForeground(QPainter* painter, const QRectF& rect)
{
    if (!m_veil.isEmpty()) {
        auto veil = theme().canvas;
        veil.setAlphaF(0.55F);
        painter->fillRect(rect, veil);
        paintStrip(*painter, m_veil, tr("the diagram follows again when the YAML can be read"), false);
    } else if (m_preview) {
        paintStrip(*painter, m_preview->title, m_preview->consequences, true);
    }
}

void StepScene::paintStrip(QPainter& painter, const QString& title, const QString& rest, bool preview) const
{
    const auto& colours = theme();
    const auto plain = uiFont(TextSize::Tiny);
    const auto bold = uiFont(TextSize::Small, QFont::DemiBold);
    const auto key = monoFont(TextSize::Tiny, QFont::Medium);
    const auto keyText = tr("Enter");
    const auto room = m_layout.stripRoom();
    const double keyWidth = preview ? QFontMetricsF(key).horizontalAdvance(keyText) + 10 : 0;
    const double frame = 10 + 14 + 8 + 8 + (preview ? keyWidth + 10 : 0) + 10;
    // What it does matters more than what it is called: the button has the name too.
    const double restWidth =
        std::min(QFontMetricsF(plain).horizontalAdvance(rest) + 2, room.width() - frame - 60);
    const auto name = QFontMetricsF(bold).elidedText(title, Qt::ElideRight, room.width() - frame - restWidth);
    const double nameWidth = QFontMetricsF(bold).horizontalAdvance(name);
    const double width = frame + nameWidth + restWidth;
    const QRectF box(room.center().x() - width / 2, room.center().y() - 14, width, 28);

    paintBox(painter, box, preview ? colours.accentWeak : colours.panel,
             preview ? colours.accent : colours.borderStrong);
    paintIcon(painter, QRectF(box.left() + 10, box.center().y() - 7, 14, 14),
              preview ? QStringLiteral("preview") : QStringLiteral("clock"),
              preview ? colours.accent : colours.text2);
    const auto put = [&](double left, const QFont& font, const QColor& ink, const QString& words,
                         double advance) {
        painter.setFont(font);
        painter.setPen(ink);
        painter.drawText(QRectF(left, box.top(), advance + 4, box.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         QFontMetricsF(font).elidedText(words, Qt::ElideRight, advance + 2));
    };
    put(box.left() + 32, bold, colours.text, name, nameWidth);
    put(box.left() + 32 + nameWidth + 8, plain, colours.text2, rest, restWidth);
    if (!preview)
        return;
    const QRectF cap(box.right() - keyWidth - 8, box.center().y() - 8, keyWidth, 16);
    paintBox(painter, cap, colours.panel, colours.borderStrong, 3);
    painter.setFont(key);
    painter.setPen(colours.text2);
    painter.drawText(cap, Qt::AlignCenter, keyText);
}

} // namespace mantissa::ui
