#include "ui/diagram/step_scene.h"

#include "ui/diagram/arrow_item.h"
#include "ui/diagram/arrow_route.h"
#include "ui/diagram/bus_item.h"
#include "ui/diagram/lane_item.h"
#include "ui/diagram/stage_item.h"
#include "ui/theme/theme.h"
#include "ui/widgets/severity.h"

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr double kBusGap = 12; ///< Between two communications beside each other.
constexpr int kMostLanes = 7;
constexpr double kDimmed = 0.35;

const PlanStage* stageIn(const StepPlan& plan, Stage stage)
{
    const auto found = std::find_if(plan.stages.begin(), plan.stages.end(),
                                    [stage](const PlanStage& s) { return s.stage == stage; });
    return found == plan.stages.end() ? nullptr : &*found;
}

const PlanComm* commLike(const StepPlan& plan, const PlanComm& comm)
{
    const auto found = std::find_if(plan.comms.begin(), plan.comms.end(), [&](const PlanComm& other) {
        return other.stage == comm.stage && other.when == comm.when && other.operation == comm.operation
            && other.words == comm.words;
    });
    return found == plan.comms.end() ? nullptr : &*found;
}

std::size_t cardIndex(Stage stage)
{
    return static_cast<std::size_t>(stage) - static_cast<std::size_t>(Stage::Data);
}

QString badgeWords(Severity severity)
{
    if (severity == Severity::Stops)
        return StepScene::tr("Stops at step 1");
    return severity == Severity::WontStart ? StepScene::tr("Will not start") : QString();
}

} // namespace

StepScene::StepScene(QObject* parent) : QGraphicsScene(parent)
{
    for (const auto stage : kCardStages) {
        auto* item = new StageItem(stage);
        addItem(item);
        m_stages[cardIndex(stage)] = item;
        connect(item, &StageItem::opened, this, &StepScene::stageOpened);
        connect(item, &StageItem::focused, this, &StepScene::stageFocused);
    }
}

void StepScene::setPlan(const StepPlan& plan, const std::vector<Finding>& findings)
{
    m_plan = plan;
    m_findings = findings;
    m_preview.reset();
    rebuild();
}

void StepScene::setPreview(const std::optional<FixPreview>& preview)
{
    m_preview = preview;
    rebuild();
}

void StepScene::setFailure(const std::optional<StepFailure>& failure)
{
    m_failure = failure;
    rebuild();
}

void StepScene::setVeil(const QString& words)
{
    m_veil = words;
    update();
}

void StepScene::setRanksUnfolded(bool unfolded)
{
    m_unfolded = unfolded;
    rebuild();
}

void StepScene::setViewSize(QSizeF size)
{
    m_view = size;
    rebuild();
}

StageItem& StepScene::stage(Stage stage) const
{
    return *m_stages[cardIndex(stage)];
}

int StepScene::laneCount() const
{
    if (m_plan.worldSize < 2)
        return 0;
    return m_unfolded ? std::min(m_plan.worldSize - 1, kMostLanes) : 1;
}

void StepScene::rebuild()
{
    for (const auto stage : kCardStages) {
        const auto* now = stageIn(m_plan, stage);
        const auto* after = m_preview ? stageIn(m_preview->after, stage) : nullptr;
        PlanStage none;
        none.stage = stage;
        none.present = false;
        this->stage(stage).setStage(now ? *now : none, after);
    }
    placeStages();
    setBadges();
    for (auto* item : m_lanes)
        delete item;
    for (auto* item : m_arrows)
        delete item;
    for (auto* item : m_buses)
        delete item;
    m_lanes.clear();
    m_arrows.clear();
    m_buses.clear();
    addLanes();
    addArrows();
    addComms();
    dimUnreached();
    update();
}

void StepScene::placeStages()
{
    const DiagramLayout narrow(m_view, 0, laneCount(), m_unfolded);
    double wanted = 0;
    for (auto* item : m_stages)
        wanted = std::max(wanted, item->wantedHeight(narrow.card(item->stage()).width()));
    m_layout = DiagramLayout(m_view, wanted, laneCount(), m_unfolded);
    for (auto* item : m_stages) {
        const auto card = m_layout.card(item->stage());
        item->setPos(card.topLeft());
        item->setSize(card.size());
    }
    setSceneRect(QRectF(QPointF(), m_layout.size()));
}

void StepScene::setBadges()
{
    for (auto* item : m_stages) {
        std::optional<StageBadge> badge;
        if (m_failure && m_failure->stage == item->stage())
            badge = StageBadge{Tone::Stop, m_failure->words, 1, false};
        for (const auto& finding : m_findings) {
            if (finding.stage != item->stage())
                continue;
            if (!badge) // Findings come with errors first.
                badge = StageBadge{severityTone(finding.severity), badgeWords(finding.severity), 0, false};
            ++badge->count;
        }
        if (badge && m_preview) {
            const auto& fixed = m_preview->fixedStages;
            badge->fixed = std::find(fixed.begin(), fixed.end(), item->stage()) != fixed.end();
        }
        item->setBadge(badge);
    }
}

/// Of a step that ended, the stages after that one were not reached.
void StepScene::dimUnreached()
{
    const auto dim = [this](QGraphicsItem& item, Stage stage) {
        item.setOpacity(m_failure && isCard(m_failure->stage) && stage > m_failure->stage ? kDimmed : 1.0);
    };
    for (auto* item : m_stages)
        dim(*item, item->stage());
    for (auto* item : m_lanes)
        dim(*item, static_cast<LaneItem*>(item)->stage());
    for (auto* item : m_arrows) // The one to the next step is the last of all.
        dim(*item, std::max(item->shown().from, item->shown().to));
    for (auto* item : m_buses)
        dim(*item, item->shown().stage);
}

void StepScene::addLanes()
{
    for (const auto& stage : m_plan.stages) {
        if (!isCard(stage.stage))
            continue;
        const auto* after = m_preview ? stageIn(m_preview->after, stage.stage) : nullptr;
        for (int lane = 0; lane < laneCount(); ++lane) {
            auto* item = new LaneItem(after ? *after : stage, m_layout.lane(stage.stage, lane), !m_unfolded);
            addItem(item);
            m_lanes.push_back(item);
        }
    }
}

void StepScene::addArrows()
{
    for (const auto& arrow : m_plan.arrows) {
        auto* item = new ArrowItem(arrow, routeArrow(m_layout, m_plan, arrow));
        if (m_preview) {
            for (const auto& next : m_preview->after.arrows)
                if (next.from == arrow.from && (next.to == arrow.to || next.words == arrow.words)
                    && next.dtype != arrow.dtype)
                    item->setNewDtype(next.dtype);
        }
        addItem(item);
        m_arrows.push_back(item);
    }
}

std::vector<double> StepScene::ringHeights(Stage stage) const
{
    std::vector<double> rings{m_layout.card(stage).bottom() - 16};
    for (int lane = 0; lane < laneCount(); ++lane)
        rings.push_back(m_layout.lane(stage, lane).center().y());
    return rings;
}

struct StepScene::PlacedComm {
    PlanComm comm;
    BusItem::Place place;
};

/// Names keep out of each other's way: from right to left, each ends before the one after it begins.
void StepScene::keepNamesApart(std::vector<PlacedComm>& placed, double right)
{
    std::sort(placed.begin(), placed.end(),
              [](const PlacedComm& a, const PlacedComm& b) { return a.place.x > b.place.x; });
    for (const bool upper : {true, false}) {
        double limit = right;
        for (auto& one : placed) {
            if (isUpper(one.comm.stage) != upper)
                continue;
            one.place.labelLeft = std::min(one.place.labelLeft, limit - BusItem::labelWidth(one.comm));
            limit = one.place.labelLeft - 10;
        }
    }
}

std::vector<StepScene::PlacedComm> StepScene::placedComms() const
{
    std::vector<PlacedComm> placed;
    for (const auto& comm : m_plan.comms) {
        if (!isCard(comm.stage))
            continue;
        BusItem::Place place;
        place.x = m_layout.busX(comm.stage, comm.when);
        // Two communications in one gap stand beside each other.
        const auto taken = std::count_if(placed.begin(), placed.end(), [&](const PlacedComm& other) {
            return std::abs(other.place.x - place.x) < kBusGap
                && isUpper(other.comm.stage) == isUpper(comm.stage);
        });
        const auto card = m_layout.card(comm.stage);
        place.stageEdge = card.center().x() > place.x ? card.left() - 1 : card.right() + 1;
        place.x += static_cast<double>(taken) * kBusGap * (place.stageEdge > place.x ? -1 : 1);
        place.rings = ringHeights(comm.stage);
        place.labelTop = m_layout.labelTop(isUpper(comm.stage));
        const double width = BusItem::labelWidth(comm);
        place.labelLeft =
            std::clamp(place.x - width / 2, 2.0, std::max(2.0, m_layout.size().width() - width - 2));
        placed.push_back({comm, place});
    }
    keepNamesApart(placed, m_layout.size().width() - 2);
    return placed;
}

void StepScene::addComms()
{
    const auto placed = placedComms();
    for (const auto& comm : m_plan.comms) {
        const auto found = std::find_if(placed.begin(), placed.end(),
                                        [&](const PlacedComm& one) { return one.comm == comm; });
        if (found == placed.end())
            continue;
        auto* item = new BusItem(found->comm, found->place);
        if (m_preview)
            item->setAfter(commLike(m_preview->after, found->comm));
        addItem(item);
        m_buses.push_back(item);
    }
}

StepPlan StepScene::shownPlan() const
{
    StepPlan shown;
    shown.worldSize = m_plan.worldSize;
    shown.accumulate = m_plan.accumulate;
    for (const auto* item : m_stages)
        shown.stages.push_back(item->shown());
    for (const auto* item : m_arrows)
        shown.arrows.push_back(item->shown());
    for (const auto* item : m_buses)
        shown.comms.push_back(item->shown());
    return shown;
}

} // namespace mantissa::ui
