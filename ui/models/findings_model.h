#pragma once

#include "engine/rules/finding.h"

#include <QAbstractListModel>

#include <vector>

namespace mantissa::ui {

/// The findings of the open set-up, a snapshot: errors first, one row each.
class FindingsModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role {
        SeverityRole = Qt::UserRole,
        StageRole,
        MessageRole,
        WhyRole,
        SourceRole,
        RuleRole,
        FixesRole
    };

    using QAbstractListModel::QAbstractListModel;

    void setFindings(std::vector<Finding> findings);
    const std::vector<Finding>& findings() const { return m_findings; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<Finding> m_findings;
};

/// "strategy, precision · pytorch-lightning 2.6.6 fsdp.py:156 · this engine: same"
QString sourceText(const Finding& finding);

} // namespace mantissa::ui
