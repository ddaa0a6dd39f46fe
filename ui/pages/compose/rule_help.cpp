#include "ui/pages/compose/rule_help.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>

namespace mantissa::ui {

QString ruleHelp(const QString& rule)
{
    static const QRegularExpression heading(QStringLiteral("^## +`?([a-z0-9_-]+)`?\\s*$"));
    const QDir topics(QStringLiteral(":/rules"));
    for (const auto& name : topics.entryList({QStringLiteral("*.md")})) {
        QFile file(topics.filePath(name));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        QString section;
        bool inside = false;
        for (const auto& line : QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))) {
            if (const auto match = heading.match(line); match.hasMatch()) {
                if (inside)
                    return section;
                inside = match.captured(1) == rule;
            }
            if (inside)
                section += line + QLatin1Char('\n');
        }
        if (inside)
            return section;
    }
    return {};
}

} // namespace mantissa::ui
