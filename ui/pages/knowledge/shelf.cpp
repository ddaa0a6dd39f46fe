#include "ui/pages/knowledge/shelf.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QRegularExpression>

#include <algorithm>
#include <array>

namespace mantissa::ui {
namespace {

QString say(const char* text)
{
    return QCoreApplication::translate("KnowledgeShelf", text);
}

QString textOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// The first heading of a text.
QString headingOf(const QString& markdown)
{
    return markdown.section(u'\n', 0, 0).mid(2).trimmed();
}

void addArticles(std::vector<KnowledgeEntry>& entries)
{
    for (const auto* id : {"precision-interface", "unscaling",
                           "accumulation"}) { // In the order in which they build on each other.
        const auto text = textOf(QStringLiteral(":/knowledge/%1.md").arg(QLatin1String(id)));
        if (!text.isEmpty())
            entries.push_back({KnowledgeEntry::Kind::Article,
                               QLatin1String(id),
                               say("Articles"),
                               headingOf(text),
                               text,
                               {}});
    }
}

/// One file a topic, one section a rule.
void addRules(std::vector<KnowledgeEntry>& entries)
{
    for (const auto& name : QDir(QStringLiteral(":/rules")).entryList(QDir::Files, QDir::Name)) {
        const auto text = textOf(QStringLiteral(":/rules/") + name);
        const auto topic = headingOf(text);
        const auto sections = text.split(QStringLiteral("\n## "));
        for (qsizetype at = 1; at < sections.size(); ++at) {
            const auto id = sections[at].section(u'\n', 0, 0).trimmed();
            entries.push_back({KnowledgeEntry::Kind::Rule,
                               id,
                               say("Rules: %1").arg(topic),
                               id,
                               QStringLiteral("# ") + sections[at],
                               {}});
        }
    }
}

QString bulleted(const std::vector<std::string>& lines, const QString& mark)
{
    QString text;
    for (const auto& line : lines)
        text += mark + QString::fromStdString(line) + u'\n';
    return text + u'\n';
}

QString markdownOf(const ErrorRecord& record)
{
    auto text =
        QStringLiteral("# %1\n\n```\n%2\n```\n\n")
            .arg(QString::fromStdString(record.errorClass), QString::fromStdString(record.errorMessage));
    text += QString::fromStdString(record.documentation) + QStringLiteral("\n\n");
    text += QStringLiteral("## %1\n\n").arg(say("When it happens"))
        + bulleted(record.triggerScenarios, QStringLiteral("- "));
    text += QStringLiteral("## %1\n\n").arg(say("How one gets there"))
        + bulleted(record.commonSituations, QStringLiteral("- "));
    text += QStringLiteral("## %1\n\n").arg(say("What helps"))
        + bulleted(record.solutions, QStringLiteral("1. "));
    text += QStringLiteral("## %1\n\n").arg(say("How to keep clear of it"))
        + bulleted(record.preventionTips, QStringLiteral("- "));
    return text;
}

void addRecords(std::vector<KnowledgeEntry>& entries)
{
    for (const auto& name : QDir(QStringLiteral(":/records")).entryList(QDir::Files, QDir::Name)) {
        const auto record = readErrorRecord(textOf(QStringLiteral(":/records/") + name).toStdString());
        if (record)
            entries.push_back({KnowledgeEntry::Kind::Record, QString::fromStdString(record->slug),
                               say("Errors"),
                               QString::fromStdString(record->errorMessage).remove(u'`').remove(u'['),
                               markdownOf(*record), *record});
    }
}

} // namespace

std::vector<KnowledgeEntry> readShelf()
{
    std::vector<KnowledgeEntry> entries;
    addArticles(entries);
    addRecords(entries);
    addRules(entries);
    return entries;
}

QString explanationOf(const QString& error)
{
    std::vector<KnowledgeEntry> entries;
    addRecords(entries);
    const auto known = std::find_if(entries.begin(), entries.end(), [&](const KnowledgeEntry& entry) {
        const QRegularExpression pattern(QString::fromStdString(entry.record.messagePattern));
        return pattern.isValid() && pattern.match(error).hasMatch();
    });
    return known == entries.end() ? QString() : known->id;
}

std::vector<std::string> rulesOf(const QString& record)
{
    std::vector<KnowledgeEntry> entries;
    addRecords(entries);
    const auto known = std::find_if(entries.begin(), entries.end(),
                                    [&](const KnowledgeEntry& entry) { return entry.id == record; });
    return known == entries.end() ? std::vector<std::string>{} : known->record.rules;
}

bool concerns(const KnowledgeEntry& entry, const QString& text)
{
    if (text.isEmpty() || entry.title.contains(text, Qt::CaseInsensitive)
        || entry.id.contains(text, Qt::CaseInsensitive) || entry.markdown.contains(text, Qt::CaseInsensitive))
        return true;
    if (entry.record.messagePattern.empty())
        return false;
    const QRegularExpression pattern(QString::fromStdString(entry.record.messagePattern));
    return pattern.isValid() && pattern.match(text).hasMatch();
}

} // namespace mantissa::ui
