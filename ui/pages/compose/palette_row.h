#pragma once

#include "ui/models/palette_block.h"

#include <QAbstractButton>

namespace mantissa::ui {

/// One block: dtype square, name, a check where it is set; ⊘ or ◇ with "why" where it is refused or checked
/// only.
class PaletteRow : public QAbstractButton {
    Q_OBJECT

public:
    explicit PaletteRow(PaletteBlock block, QWidget* parent = nullptr);

    const PaletteBlock& block() const { return m_block; }
    void setBlock(PaletteBlock block) { m_block = std::move(block); }
    const BlockVerdict& verdict() const { return m_verdict; }
    void setVerdict(const BlockVerdict& verdict);

    QSize sizeHint() const override;

signals:
    void reasonAsked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    QRect whyRect() const;

    PaletteBlock m_block;
    BlockVerdict m_verdict;
};

} // namespace mantissa::ui
