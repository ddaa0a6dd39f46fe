#pragma once

#include "engine/recipe/step_plan.h"
#include "engine/rules/finding.h"
#include "ui/diagram/diagram_layout.h"

#include <QGraphicsScene>

#include <array>
#include <optional>
#include <vector>

namespace mantissa::ui {

class ArrowItem;
class BusItem;
class StageItem;

/// The fix under the pointer or the focus, as the diagram shows it before it is applied.
struct FixPreview {
    QString title;
    QString consequences; ///< "1 field · 3 stages drop out · fixes this and 2 more, causes nothing new"
    StepPlan after;
    std::vector<Stage> fixedStages;
};

/// The step of a set-up as cards in a loop. Everything comes from the StepPlan; nothing is known besides.
class StepScene : public QGraphicsScene {
    Q_OBJECT

public:
    explicit StepScene(QObject* parent = nullptr);

    void setPlan(const StepPlan& plan, const std::vector<Finding>& findings);
    void setPreview(const std::optional<FixPreview>& preview);
    /// The last readable set-up is shown under a veil, with these words; empty takes the veil away.
    void setVeil(const QString& words);
    void setRanksUnfolded(bool unfolded);
    void setViewSize(QSizeF size);

    const StepPlan& plan() const { return m_plan; }
    StageItem& stage(Stage stage) const;
    /// The plan as the items show it: for the test that holds it against printPlan.
    StepPlan shownPlan() const;

signals:
    void stageOpened(mantissa::Stage stage, const QString& path);
    void stageFocused(mantissa::Stage stage);

protected:
    void drawBackground(QPainter* painter, const QRectF& rect) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;

private:
    void rebuild();
    void placeStages();
    void addLanes();
    void addArrows();
    void addComms();
    void setBadges();
    std::vector<double> ringHeights(Stage stage) const;
    void paintLabels(QPainter& painter) const;
    void paintStrip(QPainter& painter, const QString& title, const QString& rest, bool preview) const;
    int laneCount() const;

    StepPlan m_plan;
    std::vector<Finding> m_findings;
    std::optional<FixPreview> m_preview;
    QString m_veil;
    bool m_unfolded = false;
    QSizeF m_view{888, 384};
    DiagramLayout m_layout;
    std::array<StageItem*, kCardStages.size()> m_stages{};
    std::vector<QGraphicsItem*> m_lanes;
    std::vector<ArrowItem*> m_arrows;
    std::vector<BusItem*> m_buses;
};

} // namespace mantissa::ui
