#pragma once

#include <QString>

class QTextBrowser;

namespace mantissa::ui {

/// Shows Markdown in the theme's fonts and colours. Keeps the place when the same text is shown again.
void showMarkdown(QTextBrowser& browser, const QString& markdown, bool small = false);

} // namespace mantissa::ui
