#pragma once

#include "ui/bridge/stored_run.h"

#include <QString>

#include <optional>
#include <vector>

namespace mantissa::ui {

/// "finished", "silent 14 min (node17)", "cannot be read".
QString shownState(const RunSummaryRow& row, const std::optional<RunFacts>& facts);

/// What is typed above the list of runs: words and `key:value`, `key>n`, `key<n`, all of which must fit.
/// Keys: name, state, precision, strategy, optimizer; skipped, steps, loss.
class RunQuery {
public:
    RunQuery() = default;
    explicit RunQuery(const QString& text);

    bool accepts(const RunSummaryRow& row, const std::optional<RunFacts>& facts) const;
    /// What is wrong with it; empty where nothing is.
    QString complaint() const { return m_complaint; }

private:
    struct Term {
        QString key; ///< Empty: any text.
        QChar relation = u':';
        QString value;
        double number = 0.0;
    };

    void addTerm(const QString& word);
    static bool fits(const Term& term, const RunSummaryRow& row, const RunFacts& facts);

    std::vector<Term> m_terms;
    QString m_complaint;
};

} // namespace mantissa::ui
