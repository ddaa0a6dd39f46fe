#pragma once

#include "ui/plot/run_outline.h"
#include "ui/plot/run_series.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QCustomPlot;
class QLabel;

namespace mantissa::ui {

class PlotCursor;
class PlotPanel;

/// The plots of one run, live or stored: panels under each other with one step axis and one cursor.
/// Keys: ← → cursor by a point (Shift: ten), + − zoom, 0 everything, F follow, N next mark, Esc no cursor.
class RunPlot : public QWidget {
    Q_OBJECT

public:
    explicit RunPlot(QWidget* parent = nullptr);
    ~RunPlot() override;

    /// Starts over with another run's panels.
    void showRun(const RunOutline& outline, const std::vector<SeriesSpec>& catalogue = {});
    /// What stands where there is no point yet, and why.
    void setEmptyText(const QString& text);
    void append(const std::vector<Sample>& samples);
    void append(const SeriesPoints& points);
    /// A run that goes on shows where it is, and follows.
    void setLive(bool live);

    const RunSeries& series() const { return m_series; }
    bool isFollowing() const { return m_following; }
    std::optional<double> cursorStep() const { return m_cursorStep; }
    /// The visible steps.
    std::pair<double, double> range() const { return {m_from, m_to}; }

    void setFollowing(bool following);
    void showEverything();
    void showSteps(double from, double to);
    void zoom(double factor, double around);
    void moveCursor(int points);
    void setCursorNear(double step);
    void goToNextMark();
    /// The values under the cursor, panel by panel, as a sentence.
    QString cursorText() const;

signals:
    void followingChanged(bool following);
    void cursorMoved(const QString& values);

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    static constexpr int kLowUnder = 440; ///< Pixels of height for the panels that every run has.
    static constexpr int kAccuracy = 90; ///< And for the one more of a run with validation.
    bool isLow() const { return height() < kLowUnder + (m_outline.validated ? kAccuracy : 0); }
    void buildPanels();
    void recolour();
    void takeNewPoints();
    void refreshPanels();
    void placeCursor();
    void hideCursor();
    void redraw();
    void redrawCursor();
    bool dragOrHover(const QPoint& at);
    double stepAt(double x) const;
    double everythingUpTo() const;
    const SeriesColumn* mainColumn() const;

    RunOutline m_outline;
    RunSeries m_series;
    QCustomPlot* m_plot;
    PlotCursor* m_cursor; ///< Owned by the plot.
    QLabel* m_empty;
    std::vector<std::unique_ptr<PlotPanel>> m_panels;
    double m_from = 0.0;
    double m_to = 10.0;
    bool m_everything = true; ///< The range is the whole run.
    bool m_following = true;
    bool m_live = false;
    bool m_folded = false; ///< Too low for the learning rate.
    bool m_dirty = true;
    int m_drawnWidth = 0; ///< Of a panel, when its points were thinned.
    bool m_ring = false;
    bool m_cursorByKey = false;
    std::optional<double> m_cursorStep;
    std::optional<int> m_dragX;
};

} // namespace mantissa::ui
