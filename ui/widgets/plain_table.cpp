#include "ui/widgets/plain_table.h"

#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QHeaderView>
#include <QPainter>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kWrapMargin = 14; ///< What a cell keeps free at both sides of its text.
constexpr int kMostFitted = 2'000; ///< Rows at once: nobody reads more of them.
constexpr int kNumberGap = 10; ///< Right of numbers, so that they do not touch the column after them.

bool isRight(const QVariant& alignment)
{
    return alignment.isValid() && Qt::Alignment(alignment.toInt()).testFlag(Qt::AlignRight);
}

/// Column titles as plain words over one line.
class PlainHeader final : public QHeaderView {
public:
    PlainHeader(int leastHeight, QWidget* parent)
        : QHeaderView(Qt::Horizontal, parent), m_leastHeight(leastHeight)
    {
        setSectionsClickable(true);
    }

    QSize sizeHint() const override
    {
        const auto hint = QHeaderView::sizeHint();
        return {hint.width(), std::max(hint.height(), m_leastHeight)};
    }

protected:
    void paintEvent(QPaintEvent* event) override
    {
        QPainter(viewport()).fillRect(viewport()->rect(), theme().panel);
        QHeaderView::paintEvent(event);
        QPainter(viewport()).fillRect(0, height() - 1, viewport()->width(), 1, theme().border);
    }

    QSize sectionSizeFromContents(int section) const override
    {
        const auto size = QHeaderView::sectionSizeFromContents(section);
        return {size.width() + kNumberGap, size.height()};
    }

    void paintSection(QPainter* painter, const QRect& rect, int section) const override
    {
        const auto title = model()->headerData(section, Qt::Horizontal).toString();
        const auto aligned = model()->headerData(section, Qt::Horizontal, Qt::TextAlignmentRole);
        const auto alignment = aligned.isValid() ? Qt::Alignment(aligned.toInt()) : defaultAlignment();
        painter->fillRect(rect, theme().panel);
        painter->setFont(font());
        painter->setPen(theme().text2);
        const bool sorted = isSortIndicatorShown() && sortIndicatorSection() == section;
        const auto arrow = !sorted                       ? QString()
            : sortIndicatorOrder() == Qt::AscendingOrder ? QStringLiteral(" ↑")
                                                         : QStringLiteral(" ↓");
        const int right = alignment.testFlag(Qt::AlignRight) ? 3 + kNumberGap : 3;
        painter->drawText(rect.adjusted(3, 0, -right, -1), static_cast<int>(alignment), title + arrow);
    }

private:
    int m_leastHeight;
};

} // namespace

void RowDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->state &= ~QStyle::State_HasFocus;
    option->palette.setColor(QPalette::Highlight, theme().accentWeak);
    const auto ink = index.data(Qt::ForegroundRole);
    option->palette.setColor(QPalette::HighlightedText, ink.isValid() ? ink.value<QColor>() : theme().text);
    option->decorationSize = QSize(12, 12);
}

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    auto inner = option;
    if (isRight(index.data(Qt::TextAlignmentRole))) {
        auto ground = option;
        initStyleOption(&ground, index);
        ground.text.clear();
        ground.icon = {};
        const auto* style = ground.widget ? ground.widget->style() : QApplication::style();
        style->drawControl(QStyle::CE_ItemViewItem, &ground, painter, ground.widget);
        inner.rect.adjust(0, 0, -kNumberGap, 0);
    }
    QStyledItemDelegate::paint(painter, inner, index);
}

QSize RowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const auto hint = QStyledItemDelegate::sizeHint(option, index);
    return isRight(index.data(Qt::TextAlignmentRole)) ? hint + QSize(kNumberGap, 0) : hint;
}

PlainTable::PlainTable(int rowHeight, QWidget* parent) : QTableView(parent)
{
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setItemDelegate(new RowDelegate(this));
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    setWordWrap(false);
    setFont(uiFont(TextSize::Small));
    setHorizontalHeader(new PlainHeader(std::min(rowHeight, 26), this));
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setMinimumSectionSize(rowHeight);
    verticalHeader()->setDefaultSectionSize(rowHeight);
    horizontalHeader()->setFont(uiFont(TextSize::Tiny, QFont::Medium));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void PlainTable::setHeightOfRows(int most)
{
    m_mostRows = most;
    connect(model(), &QAbstractItemModel::modelReset, this, &PlainTable::fitHeight);
    connect(model(), &QAbstractItemModel::rowsInserted, this, &PlainTable::fitHeight);
    fitHeight();
}

void PlainTable::fitHeight()
{
    const int rows = std::clamp(model()->rowCount(), 1, m_mostRows);
    setFixedHeight(horizontalHeader()->sizeHint().height() + rows * verticalHeader()->defaultSectionSize());
}

void PlainTable::wrapColumn(int column, int mostLines)
{
    m_wrapped = column;
    m_mostLines = mostLines;
    setWordWrap(true);
    const auto fitAll = [this] { fitRows(0, model()->rowCount() - 1); };
    connect(model(), &QAbstractItemModel::rowsInserted, this,
            [this](const QModelIndex&, int first, int last) { fitRows(first, last); });
    connect(model(), &QAbstractItemModel::modelReset, this, fitAll);
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this, fitAll](int section) {
        if (section == m_wrapped)
            fitAll();
    });
}

void PlainTable::fitRows(int first, int last)
{
    const QFontMetrics metrics(font());
    const int room = columnWidth(m_wrapped) - kWrapMargin;
    const int least = verticalHeader()->defaultSectionSize();
    for (int row = first; row <= std::min(last, first + kMostFitted); ++row) {
        const auto text = model()->index(row, m_wrapped).data().toString();
        const auto box = metrics.boundingRect(QRect(0, 0, room, QWIDGETSIZE_MAX), Qt::TextWordWrap, text);
        const int lines = std::clamp(box.height() / metrics.lineSpacing(), 1, m_mostLines);
        if (const int height = least + (lines - 1) * metrics.lineSpacing(); height != rowHeight(row))
            setRowHeight(row, height);
    }
}

void PlainTable::paintEvent(QPaintEvent* event)
{
    QTableView::paintEvent(event);
    if (!model())
        return;
    QPainter painter(viewport());
    painter.setPen(theme().grid);
    const int first = std::max(0, rowAt(0));
    for (int row = first; row < model()->rowCount(); ++row) {
        const int bottom = rowViewportPosition(row) + rowHeight(row) - 1;
        if (bottom > viewport()->height())
            break;
        painter.drawLine(0, bottom, viewport()->width(), bottom);
    }
}

} // namespace mantissa::ui
