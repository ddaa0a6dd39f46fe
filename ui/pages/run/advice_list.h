#pragma once

#include "ui/pages/run/run_failure.h"
#include "ui/widgets/panels.h"

namespace mantissa::ui {

/// "What to do": a card for each advice, with a button where it can be opened as a draft.
class AdviceList : public Surface {
    Q_OBJECT

public:
    explicit AdviceList(QWidget* parent = nullptr);

    void setAdvice(const std::vector<FailureAdvice>& advice);

signals:
    void draftAsked(const QString& yaml);
    void resumeAsked();

private:
    QWidget* makeCard(const FailureAdvice& advice, bool best);

    QWidget* m_inner = nullptr;
};

} // namespace mantissa::ui
