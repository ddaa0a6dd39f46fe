#pragma once

#include "engine/recipe/step_plan.h"

#include <QGraphicsItem>
#include <QPen>

#include <vector>

namespace mantissa::ui {

/// Colour and dash of a dtype, for a line of that width.
QPen dtypePen(const QString& dtype, double width = 2.0);

/// A tensor on its way from a stage to the next one, in the colour, the dash and with the name of its dtype.
/// Where it passes stages that this step does not have, each free gap shows a piece of it.
class ArrowItem : public QGraphicsItem {
public:
    /// A straight piece, in scene coordinates, and whether it carries the dtype's name.
    struct Piece {
        QLineF line;
        bool named = true;
    };

    ArrowItem(PlanArrow arrow, std::vector<Piece> pieces);

    const PlanArrow& shown() const { return m_arrow; }
    /// The dtype that the preview gives it; empty: the same.
    void setNewDtype(const std::string& dtype) { m_newDtype = QString::fromStdString(dtype); }

    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    void paintName(QPainter& painter, const QLineF& line) const;
    QString now() const { return QString::fromStdString(m_arrow.dtype); }

    PlanArrow m_arrow;
    std::vector<Piece> m_pieces;
    QString m_newDtype;
};

} // namespace mantissa::ui
