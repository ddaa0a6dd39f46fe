#include "ui/pages/compose/yaml_highlighter.h"

#include "ui/theme/theme.h"

#include <QRegularExpression>

namespace mantissa::ui {

void YamlHighlighter::highlightBlock(const QString& text)
{
    static const QRegularExpression key(QStringLiteral(R"(^(\s*(?:- )*)([^\s#:\-][^#:]*)(:)(\s|$))"));
    static const QRegularExpression comment(QStringLiteral(R"((^|\s)#.*$)"));
    QTextCharFormat format;
    format.setForeground(theme().text);
    setFormat(0, static_cast<int>(text.size()), format);
    if (const auto match = key.match(text); match.hasMatch()) {
        format.setForeground(theme().fp32);
        setFormat(static_cast<int>(match.capturedStart(2)), static_cast<int>(match.capturedLength(2)),
                  format);
    }
    if (const auto match = comment.match(text); match.hasMatch()) {
        format.setForeground(theme().text3);
        setFormat(static_cast<int>(match.capturedStart()), static_cast<int>(match.capturedLength()), format);
    }
}

} // namespace mantissa::ui
