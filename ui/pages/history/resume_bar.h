#pragma once

#include "engine/history/resume_draft.h"
#include "engine/history/run_writer.h"
#include "ui/widgets/panels.h"

#include <vector>

class QComboBox;
class QLineEdit;

namespace mantissa::ui {

/// How a stored run is to go on: from which checkpoint, until which step; at once, or as a draft in which
/// precision, strategy and ranks can be changed first.
class ResumeBar : public Surface {
    Q_OBJECT

public:
    explicit ResumeBar(QWidget* parent = nullptr);

    void setCheckpoints(const std::vector<CheckpointRecord>& checkpoints);
    bool hasCheckpoint() const;
    void open();
    void showProblem(const Error& error);
    QString problem() const;

signals:
    void resumeAsked(const mantissa::ResumeWish& wish, bool asDraft);

private:
    void ask(bool asDraft);

    QComboBox* m_from = nullptr;
    QLineEdit* m_to = nullptr;
    ThemedLabel* m_problem = nullptr;
};

} // namespace mantissa::ui
