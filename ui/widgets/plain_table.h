#pragma once

#include <QStyledItemDelegate>
#include <QTableView>

namespace mantissa::ui {

/// Paints cells of a table whose rows are chosen as a whole: no frame around a single cell, and text keeps
/// its colour.
class RowDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

/// A table as the pages use it: rows of one height, thin lines under them, no frame and no cell grid; a row
/// is chosen as a whole.
class PlainTable : public QTableView {
    Q_OBJECT

public:
    explicit PlainTable(int rowHeight, QWidget* parent = nullptr);

    /// Grows with its rows, up to `most`; then it scrolls.
    void setHeightOfRows(int most);
    /// Rows grow with what this column says, up to so many lines.
    void wrapColumn(int column, int mostLines);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void fitHeight();
    void fitRows(int first, int last);

    int m_wrapped = -1; ///< The column that wraps.
    int m_mostLines = 1;
    int m_mostRows = 0;
};

} // namespace mantissa::ui
