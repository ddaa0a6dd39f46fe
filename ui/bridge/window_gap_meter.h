#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace mantissa::ui {

/// Measures how long the event loop of its thread was busy with something else: the longest time between two
/// beats of a timer, less the beat itself.
class WindowGapMeter : public QObject {
    Q_OBJECT

public:
    explicit WindowGapMeter(QObject* parent = nullptr);

    double longestMs() const { return m_longestMs; }
    void restart();

private:
    void beat();

    QTimer m_timer;
    QElapsedTimer m_clock;
    double m_longestMs = 0.0;
};

} // namespace mantissa::ui
