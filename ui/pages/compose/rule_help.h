#pragma once

#include <QString>

namespace mantissa::ui {

/// The section about a rule from resources/rules/*.md, as Markdown; empty where there is none.
QString ruleHelp(const QString& rule);

} // namespace mantissa::ui
