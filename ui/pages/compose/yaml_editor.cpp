#include "ui/pages/compose/yaml_editor.h"

#include "ui/document/setup_document.h"
#include "ui/pages/compose/yaml_highlighter.h"
#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/severity.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>

#include <utility>

namespace mantissa::ui {
namespace {

class Gutter : public QWidget {
public:
    explicit Gutter(YamlEditor& editor) : QWidget(&editor), m_editor(editor) {}

protected:
    void paintEvent(QPaintEvent* event) override { m_editor.paintGutter(event); }

private:
    YamlEditor& m_editor;
};

QTextEdit::ExtraSelection wave(QTextDocument& document, const SourceSpan& span, const QColor& colour)
{
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(document.findBlockByNumber(static_cast<int>(span.begin.line) - 1));
    mark.cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::MoveAnchor,
                             static_cast<int>(span.begin.column) - 1);
    const int length =
        span.end.line == span.begin.line ? static_cast<int>(span.end.column - span.begin.column) : 1;
    mark.cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor, std::max(1, length));
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    mark.format.setUnderlineColor(colour);
    return mark;
}

} // namespace

YamlEditor::YamlEditor(SetupDocument& document, QWidget* parent)
    : QPlainTextEdit(parent), m_document(document), m_gutter(new Gutter(*this))
{
    setFrameShape(QFrame::NoFrame);
    setFont(monoFont(TextSize::Small));
    setLineWrapMode(NoWrap);
    setUndoRedoEnabled(false);
    setTabChangesFocus(true);
    setAccessibleName(tr("Set-up as YAML"));
    m_highlighter = new YamlHighlighter(QPlainTextEdit::document());
    setViewportMargins(gutterWidth(), 0, 0, 0);
    connect(this, &QPlainTextEdit::textChanged, this, &YamlEditor::commitTyping);
    connect(this, &QPlainTextEdit::updateRequest, this, [this] { m_gutter->update(); });
    connect(&m_document, &SetupDocument::changed, this, &YamlEditor::showText);
    showText();
}

void YamlEditor::commitTyping()
{
    if (m_loading)
        return;
    m_document.setText(toPlainText().toStdString(), tr("Edit the YAML"), m_typing);
}

void YamlEditor::keyPressEvent(QKeyEvent* event)
{
    // Undo is the document's, but a text field takes these keys before the menu sees them.
    if (event->matches(QKeySequence::Undo))
        return m_document.undoStack().undo();
    if (event->matches(QKeySequence::Redo))
        return m_document.undoStack().redo();
    // A new line begins a new undo step.
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        m_typing = m_typing == 1 ? 2 : 1;
    QPlainTextEdit::keyPressEvent(event);
}

void YamlEditor::showText()
{
    const auto text = QString::fromStdString(m_document.text());
    if (text != toPlainText()) {
        m_loading = true;
        const int position = textCursor().position();
        const int down = verticalScrollBar()->value();
        setPlainText(text);
        auto cursor = textCursor();
        cursor.setPosition(std::min(position, static_cast<int>(text.size())));
        setTextCursor(cursor);
        verticalScrollBar()->setValue(down);
        horizontalScrollBar()->setValue(
            0); // The cursor may be far to the right; who reads begins at the left.
        m_loading = false;
        setViewportMargins(gutterWidth(), 0, 0, 0);
    }
    showMarks();
}

void YamlEditor::showMarks()
{
    QList<QTextEdit::ExtraSelection> marks;
    auto& text = *QPlainTextEdit::document();
    if (const auto& failure = m_document.failure()) {
        QTextEdit::ExtraSelection line;
        line.cursor = QTextCursor(text.findBlockByNumber(static_cast<int>(failure->at.line) - 1));
        line.format.setBackground(theme().stopWeak);
        line.format.setProperty(QTextFormat::FullWidthSelection, true);
        marks << line << wave(text, {failure->at, failure->at}, theme().stop);
    } else {
        for (const auto& finding : m_document.report().findings) {
            for (const auto& path : finding.paths)
                if (const auto* entry = m_document.sources().find(path))
                    marks << wave(text, entry->key, toneColours(theme(), severityTone(finding.severity)).ink);
        }
    }
    setExtraSelections(marks);
    m_gutter->update();
}

void YamlEditor::goTo(int line, int column)
{
    QTextCursor cursor(QPlainTextEdit::document()->findBlockByNumber(line - 1));
    cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::MoveAnchor, column - 1);
    setTextCursor(cursor);
    centerCursor();
    const int along = horizontalScrollBar()->value();
    horizontalScrollBar()->setValue(0); // Sideways only where the place is not seen else.
    if (!viewport()->rect().contains(cursorRect()))
        horizontalScrollBar()->setValue(along);
}

int YamlEditor::gutterWidth() const
{
    const int digits = std::max(2, static_cast<int>(QString::number(blockCount()).size()));
    return 14 + fontMetrics().horizontalAdvance(QLatin1Char('9')) * digits;
}

void YamlEditor::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m_highlighter)
        return;
    m_highlighter->rehighlight();
    showMarks();
}

void YamlEditor::resizeEvent(QResizeEvent* event)
{
    QPlainTextEdit::resizeEvent(event);
    m_gutter->setGeometry(QRect(contentsRect().topLeft(), QSize(gutterWidth(), contentsRect().height())));
}

void YamlEditor::paintGutter(QPaintEvent* event)
{
    QPainter painter(m_gutter);
    painter.fillRect(event->rect(), theme().panel);
    painter.setFont(monoFont(TextSize::Tiny));
    const int wrong = m_document.failure() ? static_cast<int>(m_document.failure()->at.line) : -1;
    for (auto block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const auto box = blockBoundingGeometry(block).translated(contentOffset());
        if (box.top() > event->rect().bottom())
            break;
        const int number = block.blockNumber() + 1;
        painter.setPen(number == wrong ? theme().stop : theme().text3);
        painter.drawText(QRectF(0, box.top(), m_gutter->width() - 8, box.height()),
                         Qt::AlignRight | Qt::AlignVCenter, QString::number(number));
    }
}

} // namespace mantissa::ui
