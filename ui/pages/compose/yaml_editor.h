#pragma once

#include <QPlainTextEdit>

namespace mantissa::ui {

class SetupDocument;
class YamlHighlighter;

/// The set-up's text. Typing is undone with everything else; findings are underlined at their place, and what
/// cannot be read is marked at its line and column.
class YamlEditor : public QPlainTextEdit {
    Q_OBJECT

public:
    explicit YamlEditor(SetupDocument& document, QWidget* parent = nullptr);

    int gutterWidth() const;
    void paintGutter(QPaintEvent* event);
    void goTo(int line, int column);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void commitTyping();
    void showText();
    void showMarks();

    SetupDocument& m_document;
    QWidget* m_gutter = nullptr;
    YamlHighlighter* m_highlighter = nullptr;
    bool m_loading = false;
    int m_typing = 1; ///< Merge key of the present burst of typing.
};

} // namespace mantissa::ui
