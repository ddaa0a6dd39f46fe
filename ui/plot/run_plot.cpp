#include "ui/plot/run_plot.h"

#include "ui/plot/plot_panel.h"
#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

constexpr double kRoomAhead = 0.05; // Of the visible range, right of the newest point.
constexpr double kRoomBefore = 0.008; // So that a mark at step 0 is whole.
constexpr double kLeastRange = 8.0; // Steps.

} // namespace

RunPlot::RunPlot(QWidget* parent)
    : QWidget(parent), m_plot(new QCustomPlot(this)), m_cursor(nullptr), m_empty(new QLabel(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Plots of the run"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2, 2, 2, 2);
    layout->addWidget(m_plot);

    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setMouseTracking(true);
    m_plot->setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
    m_plot->setNoAntialiasingOnDrag(true);
    m_plot->installEventFilter(this);
    m_cursor = new PlotCursor(m_plot);
    connect(m_plot, &QCustomPlot::beforeReplot, this, &RunPlot::refreshPanels);
    connect(m_plot, &QCustomPlot::afterLayout, this, &RunPlot::placeCursor);

    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setAttribute(Qt::WA_TransparentForMouseEvents);
    setEmptyText(tr("No run is open."));
    buildPanels();
}

RunPlot::~RunPlot() = default;

void RunPlot::showRun(const RunOutline& outline, const std::vector<SeriesSpec>& catalogue)
{
    m_outline = outline;
    m_outline.validated = m_outline.validated
        || std::any_of(catalogue.begin(), catalogue.end(),
                       [](const SeriesSpec& spec) { return spec.name == "val_loss"; });
    m_series.reset(catalogue);
    m_everything = true;
    m_cursorStep.reset();
    m_cursor->hide();
    buildPanels();
    takeNewPoints();
    setFollowing(true);
}

void RunPlot::setEmptyText(const QString& text)
{
    m_empty->setText(text);
    m_empty->setVisible(m_series.isEmpty());
}

void RunPlot::append(const std::vector<Sample>& samples)
{
    m_series.append(samples);
    takeNewPoints();
}

void RunPlot::append(const SeriesPoints& points)
{
    m_series.append(points);
    takeNewPoints();
}

void RunPlot::setLive(bool live)
{
    m_live = live;
    redraw();
}

void RunPlot::buildPanels()
{
    m_panels.clear();
    m_plot->clearGraphs();
    m_plot->plotLayout()->clear();
    m_plot->plotLayout()->setRowSpacing(0);
    m_plot->plotLayout()->setColumnSpacing(0);
    auto* margins = new QCPMarginGroup(m_plot);
    auto specs = panelsOf(m_outline);
    m_folded = isLow();
    if (m_folded)
        specs.pop_back();
    for (auto& spec : specs) {
        const auto row = static_cast<int>(m_panels.size()) * 2;
        auto panel = std::make_unique<PlotPanel>(*m_plot, std::move(spec), m_outline);
        m_plot->plotLayout()->addElement(row, 0, &panel->title());
        m_plot->plotLayout()->addElement(row + 1, 0, &panel->rect());
        m_plot->plotLayout()->addElement(row + 1, 1, &panel->legend());
        m_plot->plotLayout()->setRowStretchFactor(row, 0.01);
        m_plot->plotLayout()->setRowStretchFactor(row + 1, panel->spec().height);
        panel->rect().setMarginGroup(QCP::msLeft | QCP::msRight, margins);
        panel->showStepLabels(false);
        m_panels.push_back(std::move(panel));
    }
    m_panels.back()->showStepLabels(true);
    recolour();
}

void RunPlot::recolour()
{
    m_plot->setBackground(theme().panel);
    for (const auto& panel : m_panels)
        panel->recolour();
    auto palette = m_empty->palette();
    palette.setColor(QPalette::WindowText, theme().text2);
    m_empty->setPalette(palette);
    m_empty->setFont(uiFont());
    redraw();
}

void RunPlot::takeNewPoints()
{
    m_empty->setVisible(m_series.isEmpty());
    if (m_everything) {
        m_to = everythingUpTo();
        m_from = -m_to * kRoomBefore;
    } else if (m_following) {
        const double width = m_to - m_from;
        m_to = std::max(m_to, m_series.lastStep() + width * kRoomAhead);
        m_from = m_to - width;
    }
    redraw();
}

double RunPlot::everythingUpTo() const
{
    return std::max(kLeastRange, m_series.lastStep() * (m_live ? 1.0 + kRoomAhead : 1.01));
}

void RunPlot::redraw()
{
    m_dirty = true;
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void RunPlot::refreshPanels()
{
    if (!std::exchange(m_dirty, false))
        return;
    const QCPRange range(m_from, m_to);
    m_drawnWidth = m_panels.front()->rect().width();
    for (const auto& panel : m_panels) {
        panel->steps().setRange(range);
        panel->refresh(m_series, range);
    }
}

void RunPlot::placeCursor()
{
    const auto first = m_panels.front()->rect().rect();
    const auto last = m_panels.back()->rect().rect();
    if (first.width() != m_drawnWidth) // Only the layout knows how wide a panel is.
        redraw();
    const double now =
        m_live && !m_series.isEmpty() ? m_panels.front()->steps().coordToPixel(m_series.lastStep()) : -1.0;
    m_cursor->setNow(now, QRect(first.topLeft(), last.bottomRight()));
    if (!m_cursorStep || *m_cursorStep < m_from || *m_cursorStep > m_to) {
        m_cursor->hide();
        return;
    }
    std::vector<CursorStop> stops;
    for (const auto& panel : m_panels)
        stops.push_back(panel->stopAt(m_series, *m_cursorStep));
    m_cursor->show(m_panels.front()->steps().coordToPixel(*m_cursorStep),
                   tr("step %1").arg(formatCount(std::llround(*m_cursorStep))), std::move(stops));
}

QString RunPlot::cursorText() const
{
    if (!m_cursorStep)
        return {};
    QStringList parts{tr("Step %1").arg(formatCount(std::llround(*m_cursorStep)))};
    for (const auto& panel : m_panels) {
        const auto stop = panel->stopAt(m_series, *m_cursorStep);
        if (!stop.plate.isEmpty())
            parts << panel->spec().title + u' ' + stop.plate;
    }
    return parts.join(QStringLiteral(", "));
}

void RunPlot::setFollowing(bool following)
{
    if (following && !m_everything && m_series.lastStep() > m_to) {
        const double width = m_to - m_from;
        m_to = m_series.lastStep() + width * kRoomAhead;
        m_from = m_to - width;
        redraw();
    }
    if (std::exchange(m_following, following) != following)
        emit followingChanged(following);
}

void RunPlot::showEverything()
{
    m_everything = true;
    takeNewPoints();
    setFollowing(true);
}

void RunPlot::showSteps(double from, double to)
{
    const double all = everythingUpTo();
    const double width = std::clamp(to - from, std::min(kLeastRange, all), all);
    m_from = std::clamp((from + to - width) / 2.0, -all * kRoomBefore, all - width);
    m_to = m_from + width;
    m_everything = width >= all;
    setFollowing(m_to >= m_series.lastStep());
    redraw();
}

void RunPlot::zoom(double factor, double around)
{
    showSteps(around - (around - m_from) * factor, around + (m_to - around) * factor);
}

const SeriesColumn* RunPlot::mainColumn() const
{
    const auto* loss = m_series.find("loss");
    if (loss && loss->size() > 0)
        return loss;
    const auto& columns = m_series.columns();
    const auto filled = std::find_if(columns.begin(), columns.end(),
                                     [](const SeriesColumn& column) { return column.size() > 0; });
    return filled == columns.end() ? nullptr : &*filled;
}

void RunPlot::setCursorNear(double step)
{
    const auto* column = mainColumn();
    if (!column)
        return;
    m_cursorStep = column->levels.x(column->levels.nearest(step));
    placeCursor();
    redrawCursor();
    const auto values = cursorText();
    setAccessibleDescription(values);
    emit cursorMoved(values);
}

void RunPlot::moveCursor(int points)
{
    const auto* column = mainColumn();
    if (!column)
        return;
    const auto here = m_cursorStep ? column->levels.nearest(*m_cursorStep) : column->size() - 1;
    const auto last = static_cast<std::int64_t>(column->size()) - 1;
    const auto there = std::clamp<std::int64_t>(static_cast<std::int64_t>(here) + points, 0, last);
    const double step = column->levels.x(static_cast<std::size_t>(there));
    m_cursorByKey = true;
    if (step < m_from || step > m_to) {
        const double width = m_to - m_from;
        showSteps(step - width / 2.0, step + width / 2.0);
    }
    setCursorNear(step);
}

void RunPlot::goToNextMark()
{
    double next = -1.0;
    const double here = m_cursorStep.value_or(-1.0);
    for (const auto& panel : m_panels) {
        const auto* column = m_series.find(panel->spec().curves.back().series);
        if (!column)
            continue;
        for (const auto& point : column->levels.nonFinite()) {
            if (point.x > here && (next < 0.0 || point.x < next))
                next = point.x;
        }
    }
    if (next < 0.0 && here >= 0.0 && std::exchange(m_cursorStep, std::nullopt)) {
        goToNextMark(); // Round again from the start; without any mark this ends at once.
        return;
    }
    if (next < 0.0)
        return;
    m_cursorByKey = true;
    if (next < m_from || next > m_to)
        showSteps(next - (m_to - m_from) / 2.0, next + (m_to - m_from) / 2.0);
    setCursorNear(next);
}

void RunPlot::hideCursor()
{
    m_cursorStep.reset();
    m_cursorByKey = false;
    m_cursor->hide();
    redrawCursor();
    emit cursorMoved({});
}

void RunPlot::redrawCursor()
{
    if (isVisible()) // Before that the layer has no buffer of its own.
        m_plot->layer(QStringLiteral("overlay"))->replot();
}

double RunPlot::stepAt(double x) const
{
    return m_panels.front()->steps().pixelToCoord(x);
}

} // namespace mantissa::ui
