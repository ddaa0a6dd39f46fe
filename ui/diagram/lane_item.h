#pragma once

#include "engine/recipe/step_plan.h"

#include <QGraphicsItem>

namespace mantissa::ui {

/// What the other ranks do at a stage: one folded lane with words, or one lane a rank without.
class LaneItem : public QGraphicsItem {
public:
    LaneItem(const PlanStage& stage, const QRectF& rect, bool withWords);

    Stage stage() const { return m_stage; }

    QRectF boundingRect() const override { return m_rect.adjusted(-1, -1, 1, 1); }
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    Stage m_stage;
    bool m_present;
    QString m_dtype;
    std::string m_words;
    QRectF m_rect;
    bool m_withWords;
};

} // namespace mantissa::ui
