#include "ui/pages/run/failure_view.h"

#include "ui/diagram/step_scene.h"
#include "ui/diagram/step_view.h"
#include "ui/models/events_model.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/plain_table.h"

#include <QEvent>
#include <QHeaderView>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kMostLog = 150;
constexpr int kLeastLog = 84;
constexpr int kDiagram = 384;

} // namespace

FailureView::FailureView(EventsModel& events, QWidget* parent) : Surface(&Theme::panel, {}, parent)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_place = new ThemedLabel({}, uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, this);
    m_place->setContentsMargins(12, 8, 12, 8);
    m_place->setWordWrap(true);
    column->addWidget(m_place);
    m_scene = new StepScene(this);
    column->addWidget(new StepView(*m_scene, this), 1);
    column->addWidget(makeLog(events));
}

QWidget* FailureView::makeLog(EventsModel& events)
{
    auto* ground = new Surface(&Theme::panel, Qt::TopEdge, this);
    auto* column = new QVBoxLayout(ground);
    column->setContentsMargins(12, 8, 12, 4);
    column->setSpacing(4);
    column->addWidget(new ThemedLabel(tr("Log, newest first"), uiFont(TextSize::Base, QFont::DemiBold),
                                      &Theme::text, ground));
    auto* log = new PlainTable(20, ground);
    log->setModel(&events);
    log->setAccessibleName(tr("What happened before the run ended"));
    log->setMinimumHeight(60);
    auto* header = log->horizontalHeader();
    header->hide();
    header->setMinimumSectionSize(20);
    log->setColumnWidth(EventsModel::Mark, 22);
    log->setColumnWidth(EventsModel::AtStep, 66);
    log->setColumnWidth(EventsModel::Where, 150);
    header->setSectionResizeMode(EventsModel::What, QHeaderView::Stretch);
    log->wrapColumn(EventsModel::What, 3);
    column->addWidget(log, 1);
    m_log = ground;
    return ground;
}

void FailureView::setFailure(const RunFailure& failure)
{
    m_failure = failure;
    m_place->setText(failure.place());
    m_scene->setPlan(failure.plan, {});
    if (failure.stage)
        m_scene->setFailure(StepFailure{*failure.stage,
                                        failure.cause.rank >= 0 ? tr("Rank %1 ended").arg(failure.cause.rank)
                                                                : tr("Ended here")});
    else
        m_scene->setFailure({});
}

/// The diagram first: the log scrolls.
void FailureView::resizeEvent(QResizeEvent* event)
{
    Surface::resizeEvent(event);
    m_log->setFixedHeight(std::clamp(height() - m_place->height() - kDiagram, kLeastLog, kMostLog));
}

void FailureView::changeEvent(QEvent* event)
{
    Surface::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_scene)
        m_scene->update();
}

} // namespace mantissa::ui
