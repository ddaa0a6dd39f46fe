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

/// Where a step of a run ended.
struct StepFailure {
    Stage stage = Stage::Data;
    QString words; ///< "Rank 1 ended"
};

/// The step of a set-up as cards in a loop. Everything comes from the StepPlan; nothing is known besides.
class StepScene : public QGraphicsScene {
    Q_OBJECT

public:
    explicit StepScene(QObject* parent = nullptr);

    void setPlan(const StepPlan& plan, const std::vector<Finding>& findings);
    void setPreview(const std::optional<FixPreview>& preview);
    /// Marks the stage where a run failed and dims those that it did not reach.
    void setFailure(const std::optional<StepFailure>& failure);
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
    struct PlacedComm;
    static void keepNamesApart(std::vector<PlacedComm>& placed, double right);
    std::vector<PlacedComm> placedComms() const;
    void addComms();
    void setBadges();
    void dimUnreached();
    std::vector<double> ringHeights(Stage stage) const;
    void paintLabels(QPainter& painter) const;
    void paintStrip(QPainter& painter, const QString& title, const QString& rest, bool preview) const;
    int laneCount() const;

    StepPlan m_plan;
    std::vector<Finding> m_findings;
    std::optional<FixPreview> m_preview;
    std::optional<StepFailure> m_failure;
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
