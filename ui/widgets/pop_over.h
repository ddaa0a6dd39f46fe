#pragma once

#include <QPointer>
#include <QWidget>

class QVBoxLayout;

namespace mantissa::ui {

/// A box over the page: raised, with a border, never modal. A child of the page, so that it can take the
/// focus; Esc closes it and gives the focus back.
class PopOver : public QWidget {
    Q_OBJECT

public:
    explicit PopOver(QWidget* page);

    QVBoxLayout& column() { return *m_column; }
    void clear();
    /// Shows it beside a widget, kept inside the page.
    void showBeside(QWidget* anchor);
    /// Shows it under a widget, ending where that ends.
    void showBelow(QWidget* anchor);
    void showCentred(QSize size);

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void fitWidth();
    void open(QPoint corner);

    QVBoxLayout* m_column = nullptr;
    QPointer<QWidget> m_before; ///< Had the focus.
};

} // namespace mantissa::ui
