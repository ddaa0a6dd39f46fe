#include "ui/diagram/stage_item.h"

#include "ui/theme/fonts.h"
#include "ui/theme/style.h"
#include "ui/widgets/severity.h"

#include <QGraphicsScene>
#include <QGraphicsSceneMouseEvent>
#include <QStyleOptionGraphicsItem>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr double kPadding = 7;
constexpr double kTitleBlock = 22;
constexpr double kLabelHeight = 14;
constexpr double kRowHeight = 3 + kLabelHeight + 2 + kChipHeight;
constexpr double kCellGap = 4;
constexpr double kPieceGap = 4;

QString text(const std::string& value)
{
    return QString::fromStdString(value);
}

ChipLook lookOf(const PlanChip& chip)
{
    return chip.asked ? ChipLook::Set : ChipLook::Default;
}

const PlanChip* chipLabelled(const PlanStage& stage, const std::string& label)
{
    const auto found = std::find_if(stage.chips.begin(), stage.chips.end(),
                                    [&](const PlanChip& chip) { return chip.label == label; });
    return found == stage.chips.end() ? nullptr : &*found;
}

} // namespace

StageItem::StageItem(Stage stage)
{
    m_stage.stage = stage;
    setFlags(ItemIsFocusable);
    setAcceptHoverEvents(true);
    setZValue(2);
}

void StageItem::setStage(const PlanStage& stage, const PlanStage* after)
{
    prepareGeometryChange();
    m_stage = stage;
    m_after = after ? std::optional(*after) : std::nullopt;
    buildCells(after);
    place(m_size.width());
    update();
}

void StageItem::buildCells(const PlanStage* after)
{
    m_cells.clear();
    if (!m_stage.present && !comesIn())
        return;
    if (m_stage.present) {
        for (const auto& chip : m_stage.chips) {
            Cell cell{chip, {{text(chip.value), lookOf(chip)}}, {}, {}, true};
            const auto* next = after ? chipLabelled(*after, chip.label) : nullptr;
            if (dropsOut() || (after && !next))
                cell.pieces = {{text(chip.value), ChipLook::Ghost}};
            else if (next && next->value != chip.value)
                cell.pieces = {{text(chip.value), ChipLook::Ghost}, {text(next->value), ChipLook::New}};
            m_cells.push_back(std::move(cell));
        }
    }
    if (!after || dropsOut())
        return;
    for (const auto& chip : after->chips)
        if (comesIn() || !chipLabelled(m_stage, chip.label))
            m_cells.push_back(Cell{chip, {{text(chip.value), ChipLook::New}}, {}, {}, true});
}

void StageItem::setBadge(const std::optional<StageBadge>& badge)
{
    prepareGeometryChange();
    m_badge = badge;
    update();
}

void StageItem::setSize(QSizeF size)
{
    prepareGeometryChange();
    m_size = size;
    place(size.width());
    update();
}

double StageItem::wantedHeight(double width) const
{
    auto* self = const_cast<StageItem*>(this); // Places the cells for a width, and back for the real one.
    const double bottom = self->place(width);
    self->place(m_size.width());
    return bottom;
}

/// Chips side by side while label and value fit, else in a new row. Returns the height that shows all.
double StageItem::place(double width)
{
    const QFontMetricsF labels(uiFont(TextSize::Tiny));
    const double right = width - kPadding;
    double x = kPadding;
    double y = kTitleBlock + kPadding - 3;
    m_hidden = 0;
    for (auto& cell : m_cells) {
        double chips = -kPieceGap;
        for (const auto& [value, look] : cell.pieces)
            chips += std::min(chipWidth(value), right - kPadding) + kPieceGap;
        const double label = labels.horizontalAdvance(text(cell.chip.label)) + 2;
        const double span = std::min(std::max(chips, label), right - kPadding);
        if (x > kPadding && x + span > right + 0.5) {
            x = kPadding;
            y += kRowHeight;
        }
        const bool twoLines = chips > right - kPadding + 0.5 && cell.pieces.size() > 1;
        cell.label = QRectF(x, y + 3, span, kLabelHeight);
        cell.box = QRectF(x, y + 3 + kLabelHeight + 2, std::min(chips, right - x),
                          twoLines ? 2 * kChipHeight + 3 : kChipHeight);
        cell.visible = cell.box.bottom() <= m_size.height() - 3;
        m_hidden += cell.visible ? 0 : 1;
        if (twoLines) {
            x = kPadding;
            y += kRowHeight + kChipHeight + 3;
        } else {
            x += span + kCellGap;
        }
    }
    const double bottom = x > kPadding ? y + kRowHeight : y;
    return bottom + kPadding;
}

const PlanChip* StageItem::chipAt(QPointF point) const
{
    for (const auto& cell : m_cells)
        if (cell.visible && (cell.box.contains(point) || cell.label.contains(point)))
            return &cell.chip;
    return nullptr;
}

QString StageItem::spokenName() const
{
    const auto position = static_cast<int>(m_stage.stage) - static_cast<int>(Stage::Data) + 1;
    QStringList parts{stageTitleText(m_stage.stage), tr("stage %1 of 11").arg(position)};
    if (!m_stage.present)
        parts << tr("not part of this step");
    if (!m_stage.dtype.empty())
        parts << text(m_stage.dtype);
    if (m_badge && !m_badge->words.isEmpty())
        parts << m_badge->words.toLower();
    if (m_badge && m_badge->count > 0)
        parts << (m_badge->count == 1 ? tr("1 finding") : tr("%1 findings").arg(m_badge->count));
    for (const auto& chip : m_stage.chips)
        parts << QStringLiteral("%1 %2%3").arg(text(chip.label), text(chip.value),
                                               chip.asked ? QString() : tr(" by default"));
    return parts.join(QStringLiteral(", "));
}

QRectF StageItem::boundingRect() const
{
    return QRectF(QPointF(), m_size).united(badgeRect()).adjusted(-5, -5, 5, 9);
}

void StageItem::mousePressEvent(QGraphicsSceneMouseEvent* event)
{
    setFocus(Qt::MouseFocusReason);
    event->accept();
}

void StageItem::mouseReleaseEvent(QGraphicsSceneMouseEvent* event)
{
    const auto* chip = chipAt(event->pos());
    emit opened(m_stage.stage, chip ? text(chip->path) : QString());
}

void StageItem::hoverEnterEvent(QGraphicsSceneHoverEvent*)
{
    m_hovered = true;
    update();
}

void StageItem::hoverLeaveEvent(QGraphicsSceneHoverEvent*)
{
    m_hovered = false;
    update();
}

void StageItem::hoverMoveEvent(QGraphicsSceneHoverEvent* event)
{
    const auto* chip = chipAt(event->pos());
    if (!chip) {
        setToolTip(m_stage.present ? QString() : tr("Not part of this step."));
        return;
    }
    const auto name = chip->path.empty() ? text(chip->label) : text(chip->path);
    setToolTip(QStringLiteral("%1: %2\n%3")
                   .arg(name, text(chip->value),
                        chip->asked              ? tr("set in the file")
                            : chip->path.empty() ? tr("follows from other settings")
                                                 : tr("default: nobody asked for it")));
}

void StageItem::focusInEvent(QFocusEvent*)
{
    emit focused(m_stage.stage);
    update();
}

void StageItem::focusOutEvent(QFocusEvent*)
{
    update();
}

} // namespace mantissa::ui
