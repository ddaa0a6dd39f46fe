#pragma once

#include "engine/recipe/step_plan.h"
#include "ui/diagram/chip_look.h"
#include "ui/widgets/tone.h"

#include <QGraphicsObject>

#include <optional>
#include <vector>

namespace mantissa::ui {

/// The most severe finding at a stage, and how many there are.
struct StageBadge {
    Tone tone = Tone::Info;
    QString words; ///< For errors: "Stops at step 1". Else empty: the count is shown.
    int count = 0;
    bool fixed = false; ///< The previewed fix clears everything here.
};

/// One stage of the step as a card: title, compute dtype, settings as chips, badge of findings.
class StageItem : public QGraphicsObject {
    Q_OBJECT

public:
    explicit StageItem(Stage stage);

    /// `after` is the stage as the previewed fix would make it.
    void setStage(const PlanStage& stage, const PlanStage* after);
    void setBadge(const std::optional<StageBadge>& badge);
    void setSize(QSizeF size);

    Stage stage() const { return m_stage.stage; }
    const std::optional<StageBadge>& badge() const { return m_badge; }
    QRectF badgeRect() const;
    /// What the card shows, put together from what it paints.
    const PlanStage& shown() const { return m_stage; }
    double wantedHeight(double width) const;
    /// The setting under a point, with its path; null where there is none.
    const PlanChip* chipAt(QPointF point) const;
    /// "Unscale, stage 8 of 11, will stop at step 1, 1 finding"
    QString spokenName() const;

    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

signals:
    void opened(mantissa::Stage stage, const QString& path);
    void focused(mantissa::Stage stage);

protected:
    void mouseReleaseEvent(QGraphicsSceneMouseEvent* event) override;
    void mousePressEvent(QGraphicsSceneMouseEvent* event) override;
    void hoverEnterEvent(QGraphicsSceneHoverEvent* event) override;
    void hoverMoveEvent(QGraphicsSceneHoverEvent* event) override;
    void hoverLeaveEvent(QGraphicsSceneHoverEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Cell {
        PlanChip chip;
        std::vector<std::pair<QString, ChipLook>> pieces; ///< Old and new value in a preview, else one.
        QRectF label;
        QRectF box;
        bool visible = true;
    };

    void buildCells(const PlanStage* after);
    double place(double width);
    bool dropsOut() const { return m_after && m_stage.present && !m_after->present; }
    bool comesIn() const { return m_after && !m_stage.present && m_after->present; }
    void paintTitle(QPainter& painter) const;
    void paintCells(QPainter& painter) const;
    void paintCell(QPainter& painter, const Cell& cell, const QColor& ink) const;
    void paintHidden(QPainter& painter) const;
    void paintBadge(QPainter& painter) const;

    PlanStage m_stage;
    std::optional<PlanStage> m_after;
    std::optional<StageBadge> m_badge;
    std::vector<Cell> m_cells;
    QSizeF m_size{108, 118};
    int m_hidden = 0;
    bool m_hovered = false;
};

} // namespace mantissa::ui
