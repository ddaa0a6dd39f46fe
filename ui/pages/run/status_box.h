#pragma once

#include "ui/text/run_words.h"

#include <QWidget>

class QLabel;

namespace mantissa::ui {

/// A sentence about the run and a detail, with the shape and colour of its tone.
class StatusBox : public QWidget {
    Q_OBJECT

public:
    explicit StatusBox(QWidget* parent = nullptr);

    void setWords(const RunWords& words);
    const RunWords& words() const { return m_words; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void recolour();
    void fitHeight();

    RunWords m_words;
    QLabel* m_sentence = nullptr;
    QLabel* m_detail = nullptr;
};

} // namespace mantissa::ui
