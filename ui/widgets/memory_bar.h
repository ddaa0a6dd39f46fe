#pragma once

#include <QWidget>

#include <cstdint>
#include <vector>

namespace mantissa::ui {

/// One term of the memory of a rank.
struct MemoryPart {
    QString term; ///< "Optimizer state"
    QString dtype; ///< "fp32"; gives the hue.
    double strength = 1.0; ///< Of the hue, so that terms of one dtype are told apart.
    std::uint64_t bytes = 0;
};

/// Where memory goes: one bar whose parts have the colours of the lines below it, one line a term, and the
/// sum.
class MemoryBar : public QWidget {
    Q_OBJECT

public:
    explicit MemoryBar(QWidget* parent = nullptr);

    void setParts(std::vector<MemoryPart> parts);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintBar(QPainter& painter) const;
    void paintLine(QPainter& painter, int line, const MemoryPart& part) const;
    std::uint64_t total() const;

    std::vector<MemoryPart> m_parts;
};

} // namespace mantissa::ui
