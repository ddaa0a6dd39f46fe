#include "ui/models/run_query.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <cmath>

namespace mantissa::ui {
namespace {

const QStringList& textKeys()
{
    static const QStringList keys{QStringLiteral("name"), QStringLiteral("state"),
                                  QStringLiteral("precision"), QStringLiteral("strategy"),
                                  QStringLiteral("optimizer")};
    return keys;
}

const QStringList& numberKeys()
{
    static const QStringList keys{QStringLiteral("skipped"), QStringLiteral("steps"), QStringLiteral("loss")};
    return keys;
}

QString textOf(const QString& key, const RunSummaryRow& row, const RunFacts& facts)
{
    if (key == QStringLiteral("name"))
        return QString::fromStdString(row.name);
    if (key == QStringLiteral("state"))
        return shownState(row, facts);
    if (key == QStringLiteral("precision"))
        return QString::fromStdString(facts.precision);
    if (key == QStringLiteral("strategy"))
        return QString::fromStdString(facts.strategy);
    return QString::fromStdString(facts.optimizer);
}

double numberOf(const QString& key, const RunSummaryRow& row, const RunFacts& facts)
{
    if (key == QStringLiteral("steps"))
        return row.error.empty() ? static_cast<double>(row.steps) : std::nan("");
    if (key == QStringLiteral("skipped"))
        return facts.skipped ? static_cast<double>(*facts.skipped) : std::nan("");
    return facts.loss.value_or(std::nan(""));
}

} // namespace

QString shownState(const RunSummaryRow& row, const std::optional<RunFacts>& facts)
{
    const bool partly = row.error.empty() && facts && !facts->error.empty();
    return partly ? QCoreApplication::translate("RunsModel", "damaged")
                  : QString::fromStdString(row.stateText);
}

RunQuery::RunQuery(const QString& text)
{
    for (const auto& word : text.split(u' ', Qt::SkipEmptyParts))
        addTerm(word);
}

void RunQuery::addTerm(const QString& word)
{
    static const QRegularExpression form(QStringLiteral("^([a-z]+)([:<>])(.*)$"));
    const auto match = form.match(word);
    if (!match.hasMatch()) {
        m_terms.push_back({{}, u':', word, 0.0});
        return;
    }
    Term term{match.captured(1), match.captured(2).front(), match.captured(3), 0.0};
    const bool isNumber = numberKeys().contains(term.key);
    if (!isNumber && !textKeys().contains(term.key)) {
        m_complaint = QCoreApplication::translate("RunQuery", "There is no key “%1”. Keys: %2.")
                          .arg(term.key, (textKeys() + numberKeys()).join(QStringLiteral(", ")));
        return;
    }
    if (term.value.isEmpty())
        return; // Still being typed.
    bool read = true;
    if (isNumber)
        term.number = term.value.toDouble(&read);
    if (!read || (!isNumber && term.relation != u':')) {
        m_complaint = isNumber
            ? QCoreApplication::translate("RunQuery", "“%1” is no number.").arg(term.value)
            : QCoreApplication::translate("RunQuery", "%1 is a word: write %1:value.").arg(term.key);
        return;
    }
    m_terms.push_back(std::move(term));
}

bool RunQuery::fits(const Term& term, const RunSummaryRow& row, const RunFacts& facts)
{
    if (term.key.isEmpty()) {
        if (QString::fromStdString(row.error).contains(term.value, Qt::CaseInsensitive))
            return true;
        for (const auto& key : textKeys())
            if (textOf(key, row, facts).contains(term.value, Qt::CaseInsensitive))
                return true;
        return false;
    }
    if (textKeys().contains(term.key))
        return textOf(term.key, row, facts).contains(term.value, Qt::CaseInsensitive);
    const double number = numberOf(term.key, row, facts);
    return term.relation == u'>' ? number > term.number
        : term.relation == u'<'  ? number < term.number
                                 : number == term.number;
}

bool RunQuery::accepts(const RunSummaryRow& row, const std::optional<RunFacts>& facts) const
{
    const auto known = facts.value_or(RunFacts{});
    return std::all_of(m_terms.begin(), m_terms.end(),
                       [&](const Term& term) { return fits(term, row, known); });
}

} // namespace mantissa::ui
