#pragma once

#include "engine/recipe/setup.h"

#include <QWidget>

namespace mantissa::ui {

class MemoryBar;
class ThemedLabel;

/// The memory of one rank, computed from the set-up alone; for a set-up that this engine does not train, why
/// it is not known.
class MemoryPanel : public QWidget {
    Q_OBJECT

public:
    explicit MemoryPanel(QWidget* parent = nullptr);

    /// `previewed`: the fix whose effect it is; empty: the set-up as it stands.
    void setSetup(const Setup& setup, const QString& previewed = {});

private:
    void showReason(const QString& reason);

    ThemedLabel* m_previewed = nullptr;
    ThemedLabel* m_about = nullptr;
    MemoryBar* m_bar = nullptr;
    ThemedLabel* m_leftOut = nullptr;
};

} // namespace mantissa::ui
