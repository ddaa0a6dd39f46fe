#include "ui/pages/compose/findings_panel.h"

#include "ui/pages/compose/finding_row.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/columns.h"

#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

namespace mantissa::ui {

FindingsPanel::FindingsPanel(FindingsModel& model, QWidget* parent)
    : Surface(&Theme::panel, Qt::TopEdge, parent), m_model(model)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 1, 0, 0);
    column->setSpacing(0);

    auto* head = new Surface(&Theme::panel, Qt::BottomEdge, this);
    head->setMinimumHeight(28);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(12, 0, 12, 0);
    row->addWidget(
        new ThemedLabel(tr("Findings"), uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, head));
    m_count = new ThemedLabel({}, monoFont(TextSize::Small), &Theme::text2, head);
    row->addWidget(m_count);
    m_suppressed = new ThemedLabel({}, uiFont(TextSize::Tiny), &Theme::text2, head);
    row->addWidget(m_suppressed);
    row->addStretch(1);
    row->addWidget(new ThemedLabel(tr("F8 next · hover or focus a fix to preview it · Enter applies"),
                                   uiFont(TextSize::Tiny), &Theme::text3, head));
    column->addWidget(head);

    m_scroll = makeColumnScroll(this);
    m_column = new Surface(&Theme::panel, {}, m_scroll);
    m_rowsLayout = new QVBoxLayout(m_column);
    m_rowsLayout->setContentsMargins(0, 0, 0, 0);
    m_rowsLayout->setSpacing(0);
    m_notice = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text2, m_column);
    m_notice->setContentsMargins(12, 10, 12, 10);
    m_notice->setWordWrap(true);
    m_rowsLayout->addWidget(m_notice);
    m_rowsLayout->addStretch(1);
    m_scroll->setWidget(m_column);
    column->addWidget(m_scroll, 1);

    connect(&m_model, &QAbstractItemModel::modelReset, this, &FindingsPanel::rebuild);
    rebuild();
}

void FindingsPanel::rebuild()
{
    for (auto* row : m_rows)
        row->deleteLater();
    m_rows.clear();
    m_selected = -1;
    int wanted = 0;
    int index = 0;
    for (const auto& finding : m_model.findings()) {
        auto* row = new FindingRow(finding, m_column);
        connect(row, &FindingRow::selected, this, [this, index] { select(index); });
        connect(row, &FindingRow::fixPreviewed, this,
                [this, index](int fix) { emit fixPreviewed(index, fix); });
        connect(row, &FindingRow::previewEnded, this, &FindingsPanel::previewEnded);
        connect(
            row, &FindingRow::fixChosen, this, [this, index](int fix) { emit fixChosen(index, fix); },
            Qt::QueuedConnection);
        connect(row, &FindingRow::explainAsked, this, [this, index] { emit explainAsked(index); });
        m_rowsLayout->insertWidget(index, row);
        row->show();
        if (finding.rule == m_selectedRule)
            wanted = index;
        m_rows.push_back(row);
        ++index;
    }
    m_count->setText(QString::number(index));
    setNotice({});
    if (index > 0)
        mark(wanted);
    updateGeometry();
}

void FindingsPanel::setNotice(const QString& text)
{
    m_notice->setText(text.isEmpty() ? tr("Nothing found: no rule that applies to this set-up and target "
                                          "objects. What no rule knows, only a run can show.")
                                     : text);
    m_notice->setVisible(!text.isEmpty() || m_rows.empty());
}

void FindingsPanel::setSuppressed(int count)
{
    m_suppressed->setText(count == 0 ? QString()
                                     : tr("%1 suppressed by the set-up, with its reason").arg(count));
}

void FindingsPanel::select(int row)
{
    if (row < 0 || row >= static_cast<int>(m_rows.size()) || row == m_selected)
        return;
    mark(row);
    emit selectionChanged(row);
}

void FindingsPanel::mark(int row)
{
    if (m_selected >= 0)
        m_rows[static_cast<std::size_t>(m_selected)]->setSelected(false);
    m_selected = row;
    m_selectedRule = m_model.findings()[static_cast<std::size_t>(row)].rule;
    m_rows[static_cast<std::size_t>(row)]->setSelected(true);
    updateGeometry();
}

void FindingsPanel::step(int delta)
{
    const int count = static_cast<int>(m_rows.size());
    if (count == 0)
        return;
    const auto* current = m_selected >= 0 ? m_rows[static_cast<std::size_t>(m_selected)] : nullptr;
    // The first F8 goes to the finding that is selected already.
    const bool inside = current && current->isAncestorOf(focusWidget()) && focusWidget()->hasFocus();
    const int next = !current ? 0 : !inside && delta > 0 ? m_selected : (m_selected + delta + count) % count;
    select(next);
    auto* row = m_rows[static_cast<std::size_t>(next)];
    m_column->layout()->activate();
    // Its beginning, where the row is higher than the list.
    m_scroll->ensureWidgetVisible(row, 0, 0);
    if (row->height() > m_scroll->viewport()->height())
        m_scroll->verticalScrollBar()->setValue(row->y());
    row->firstAction()->setFocus(Qt::TabFocusReason);
}

QSize FindingsPanel::sizeHint() const
{
    const int column = m_column->hasHeightForWidth() ? m_column->heightForWidth(m_scroll->viewport()->width())
                                                     : m_column->sizeHint().height();
    return {600, 32 + column};
}

} // namespace mantissa::ui
