#pragma once

#include "engine/recipe/step_plan.h"

#include <QGraphicsItem>

#include <vector>

namespace mantissa::ui {

/// A communication: a line across the ranks with a ring at each, ticks to the stage, and its name below.
class BusItem : public QGraphicsItem {
public:
    struct Place {
        double x = 0;
        double stageEdge = 0; ///< Where the ticks end.
        std::vector<double> rings; ///< Heights of the ranks' rings, the card's first.
        double labelTop = 0;
        double labelLeft = 0;
    };

    BusItem(PlanComm comm, Place place);

    const PlanComm& shown() const { return m_comm; }
    const Place& place() const { return m_place; }
    /// As the previewed fix would make it; null: it would be gone.
    void setAfter(const PlanComm* after);
    static double labelWidth(const PlanComm& comm);

    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    PlanComm m_comm;
    PlanComm m_painted; ///< Differs from m_comm in a preview.
    bool m_gone = false;
    Place m_place;
};

} // namespace mantissa::ui
