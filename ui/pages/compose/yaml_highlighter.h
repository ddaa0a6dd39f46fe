#pragma once

#include <QSyntaxHighlighter>

namespace mantissa::ui {

/// Keys, values and comments of a YAML text, in the colours of the theme.
class YamlHighlighter : public QSyntaxHighlighter {
    Q_OBJECT

public:
    using QSyntaxHighlighter::QSyntaxHighlighter;

protected:
    void highlightBlock(const QString& text) override;
};

} // namespace mantissa::ui
