#pragma once

#include "ui/models/findings_model.h"
#include "ui/widgets/panels.h"

#include <vector>

class QScrollArea;
class QVBoxLayout;

namespace mantissa::ui {

class FindingRow;

/// The list of findings with their fixes. Errors first; F8 and Shift+F8 walk through it.
class FindingsPanel : public Surface {
    Q_OBJECT

public:
    explicit FindingsPanel(FindingsModel& model, QWidget* parent = nullptr);

    /// `delta` +1 or −1: selects that finding and gives its first fix the focus.
    void step(int delta);
    void select(int row);
    int selectedRow() const { return m_selected; }
    /// Said instead of the rows while the set-up cannot be read.
    void setNotice(const QString& text);
    /// How many findings the set-up itself suppresses.
    void setSuppressed(int count);

    QSize sizeHint() const override;

signals:
    void fixPreviewed(int row, int fix);
    void previewEnded();
    void fixChosen(int row, int fix);
    void explainAsked(int row);
    void selectionChanged(int row);

private:
    void rebuild();
    void mark(int row);

    FindingsModel& m_model;
    ThemedLabel* m_count = nullptr;
    ThemedLabel* m_suppressed = nullptr;
    QScrollArea* m_scroll = nullptr;
    QWidget* m_column = nullptr;
    QVBoxLayout* m_rowsLayout = nullptr;
    ThemedLabel* m_notice = nullptr;
    std::vector<FindingRow*> m_rows;
    int m_selected = -1;
    std::string m_selectedRule; ///< Stays selected when the findings are new.
};

} // namespace mantissa::ui
