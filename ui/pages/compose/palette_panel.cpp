#include "ui/pages/compose/palette_panel.h"

#include "ui/document/setup_document.h"
#include "ui/pages/compose/palette_row.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/columns.h"

#include <QKeyEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {

PalettePanel::PalettePanel(SetupDocument& document, QWidget* parent)
    : Surface(&Theme::panel, Qt::RightEdge | Qt::TopEdge | Qt::BottomEdge, parent), m_document(document)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 1, 1, 1);
    m_scroll = makeColumnScroll(this);
    auto* inner = new Surface(&Theme::panel, {}, m_scroll);
    m_column = new QVBoxLayout(inner);
    m_column->setContentsMargins(0, 4, 0, 8);
    m_column->setSpacing(0);
    m_scroll->setWidget(inner);
    column->addWidget(m_scroll);
    rebuild();
    connect(&m_document, &SetupDocument::changed, this, &PalettePanel::judge);
}

QStringList PalettePanel::groupTitles() const
{
    QStringList titles;
    for (const auto& group : m_groups)
        titles << QString::fromStdString(group.title);
    return titles;
}

void PalettePanel::showGroup(int group)
{
    if (group == m_group)
        return;
    m_group = group;
    for (int i = 0; i < static_cast<int>(m_sections.size()); ++i)
        m_sections[static_cast<std::size_t>(i)]->setVisible(group < 0 || group == i);
    m_scroll->verticalScrollBar()->setValue(0);
}

void PalettePanel::focusFirst()
{
    const auto shown =
        std::find_if(m_rows.begin(), m_rows.end(), [](const PaletteRow* row) { return row->isVisible(); });
    if (shown != m_rows.end())
        (*shown)->setFocus(Qt::TabFocusReason);
}

int PalettePanel::contentHeight() const
{
    return m_scroll->widget()->sizeHint().height() + 4;
}

void PalettePanel::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        emit closeAsked();
    else
        Surface::keyPressEvent(event);
}

void PalettePanel::rebuild()
{
    m_groups = paletteGroups(m_document.setup());
    for (const auto& group : m_groups) {
        auto* section = new QWidget(m_scroll->widget());
        auto* rows = new QVBoxLayout(section);
        rows->setContentsMargins(0, 0, 0, 6);
        rows->setSpacing(0);
        auto* title = new ThemedLabel(QString::fromStdString(group.title),
                                      uiFont(TextSize::Tiny, QFont::DemiBold), &Theme::text2, section);
        title->setContentsMargins(10, 6, 10, 4);
        rows->addWidget(title);
        for (const auto& block : group.blocks) {
            auto* row = new PaletteRow(block, section);
            connect(row, &PaletteRow::clicked, this, [this, row] {
                const auto& chosen = row->block();
                const bool out = row->verdict().on && !chosen.removal.empty();
                if (!row->verdict().on || out)
                    emit editsChosen(out ? chosen.removal : chosen.edits,
                                     QString::fromStdString((out ? "Remove " : "") + chosen.name));
            });
            connect(row, &PaletteRow::reasonAsked, this,
                    [this, row] { emit reasonAsked(row, row->verdict()); });
            rows->addWidget(row);
            m_rows.push_back(row);
        }
        m_column->addWidget(section);
        m_sections.push_back(section);
    }
    m_column->addStretch(1);
    judge();
}

void PalettePanel::judge()
{
    if (!m_document.isReadable())
        return;
    // The edits of a block depend on what is there; names and order do not.
    const auto groups = paletteGroups(m_document.setup());
    std::size_t row = 0;
    for (const auto& group : groups) {
        for (const auto& block : group.blocks) {
            if (row >= m_rows.size())
                return;
            m_rows[row]->setBlock(block);
            m_rows[row]->setVerdict(judgeBlock(block, m_document.setup(), m_document.report().target));
            ++row;
        }
    }
}

} // namespace mantissa::ui
