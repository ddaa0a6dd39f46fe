#pragma once

#include <QWidget>

#include <vector>

class QAbstractButton;

namespace mantissa::ui {

/// A few choices side by side, one of them on.
class Segments : public QWidget {
    Q_OBJECT

public:
    explicit Segments(const QStringList& titles, QWidget* parent = nullptr);

    int current() const;
    void setCurrent(int index);
    void setText(int index, const QString& text);

signals:
    void chosen(int index);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<QAbstractButton*> m_buttons;
};

} // namespace mantissa::ui
