#pragma once

#include <QWidget>

namespace mantissa::ui {

/// One line of text that elides when there is no room; the tool tip then has the whole.
class ElidedLabel : public QWidget {
    Q_OBJECT

public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);

    void setText(const QString& text);
    QString text() const { return m_text; }
    void setElideMode(Qt::TextElideMode mode) { m_mode = mode; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QString m_text;
    Qt::TextElideMode m_mode = Qt::ElideRight;
};

} // namespace mantissa::ui
