#pragma once

#include "ui/models/palette_block.h"
#include "ui/widgets/panels.h"

#include <vector>

class QScrollArea;
class QVBoxLayout;

namespace mantissa::ui {

class PaletteRow;
class SetupDocument;

/// The typed blocks that can be put into the set-up, by group. Arrows walk, Enter puts in, Space tells why
/// not.
class PalettePanel : public Surface {
    Q_OBJECT

public:
    explicit PalettePanel(SetupDocument& document, QWidget* parent = nullptr);

    QStringList groupTitles() const;
    /// Shows one group only, or all of them for −1.
    void showGroup(int group);
    int group() const { return m_group; }
    void focusFirst();
    int contentHeight() const;

protected:
    void keyPressEvent(QKeyEvent* event) override;

signals:
    void closeAsked(); ///< Esc.
    void editsChosen(const std::vector<mantissa::Edit>& edits, const QString& title);
    void reasonAsked(QWidget* row, const mantissa::ui::BlockVerdict& verdict);

private:
    void rebuild();
    void judge();

    SetupDocument& m_document;
    QScrollArea* m_scroll = nullptr;
    QVBoxLayout* m_column = nullptr;
    std::vector<PaletteGroup> m_groups;
    std::vector<QWidget*> m_sections;
    std::vector<PaletteRow*> m_rows;
    int m_group = -1;
};

} // namespace mantissa::ui
