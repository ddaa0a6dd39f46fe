#include "ui/pages/knowledge/reading.h"

#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"

#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextFrame>
#include <QTextTable>

namespace mantissa::ui {
namespace {

TextSize sizeOfHeading(int level, bool small)
{
    if (small)
        return TextSize::Base;
    return level == 1 ? TextSize::Article : level == 2 ? TextSize::Title : TextSize::Base;
}

QTextCharFormat formatOf(const QTextFragment& fragment, int heading, bool small)
{
    auto format = fragment.charFormat();
    const bool code = format.fontFixedPitch();
    const bool strong = format.fontWeight() > QFont::Normal;
    const auto size = heading > 0 ? sizeOfHeading(heading, small) : small ? TextSize::Small : TextSize::Base;
    const auto weight = heading > 0 || strong ? QFont::DemiBold : QFont::Normal;
    const bool italic = format.fontItalic();
    const bool anchor = format.isAnchor();
    format.clearProperty(QTextFormat::FontSizeAdjustment); // Of headings: it would add to our size.
    format.setFont(code ? monoFont(TextSize::Small, weight) : uiFont(size, weight));
    format.setFontItalic(italic);
    format.setForeground(anchor ? theme().accent : theme().text);
    format.setFontUnderline(false);
    if (code && !anchor)
        format.setBackground(theme().sunken);
    return format;
}

void dressBlock(QTextBlock block, bool small)
{
    const int heading = block.blockFormat().headingLevel();
    QTextCursor cursor(block);
    std::vector<std::tuple<int, int, QTextCharFormat>> parts;
    for (auto part = block.begin(); !part.atEnd(); ++part)
        parts.emplace_back(part.fragment().position(), part.fragment().length(),
                           formatOf(part.fragment(), heading, small));
    for (const auto& [position, length, format] : parts) {
        cursor.setPosition(position);
        cursor.setPosition(position + length, QTextCursor::KeepAnchor);
        cursor.setCharFormat(format);
    }
    auto shape = block.blockFormat();
    shape.setLineHeight(small ? 125 : 135, QTextBlockFormat::ProportionalHeight);
    const bool fenced = shape.hasProperty(QTextFormat::BlockCodeLanguage)
        || shape.hasProperty(QTextFormat::BlockCodeFence) || shape.nonBreakableLines();
    if (fenced) {
        shape.setBackground(theme().sunken);
        shape.setNonBreakableLines(false);
        shape.setLeftMargin(0);
    }
    if (heading > 0) {
        shape.setTopMargin(small ? 10 : heading == 1 ? 4 : 18);
        shape.setBottomMargin(small ? 2 : 6);
    }
    QTextCursor(block).setBlockFormat(shape);
}

void dressTables(QTextFrame* frame)
{
    for (auto* child : frame->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(child)) {
            auto format = table->format();
            format.setBorder(1);
            format.setBorderBrush(theme().border);
            format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
            format.setBorderCollapse(true);
            format.setCellPadding(6);
            format.setCellSpacing(0);
            format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
            format.setTopMargin(6);
            format.setBottomMargin(8);
            table->setFormat(format);
            for (int column = 0; column < table->columns(); ++column) {
                auto cell = table->cellAt(0, column).format().toTableCellFormat();
                cell.setBackground(theme().sunken);
                table->cellAt(0, column).setFormat(cell);
            }
        }
        dressTables(child);
    }
}

} // namespace

void showMarkdown(QTextBrowser& browser, const QString& markdown, bool small)
{
    const int place = browser.verticalScrollBar()->value();
    const bool same = browser.property("markdown").toString() == markdown;
    browser.setProperty("markdown", markdown);
    auto* document = browser.document();
    document->setDefaultFont(uiFont(small ? TextSize::Small : TextSize::Base));
    document->setDocumentMargin(small ? 12 : 20);
    document->setMarkdown(markdown);
    dressTables(document->rootFrame());
    for (auto block = document->begin(); block.isValid(); block = block.next())
        dressBlock(block, small);
    browser.moveCursor(
        QTextCursor::Start); // Else the first showing scrolls to the end, where Markdown leaves it.
    browser.verticalScrollBar()->setValue(same ? place : 0);
}

} // namespace mantissa::ui
