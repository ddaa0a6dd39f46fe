#include "ui/models/findings_model.h"

#include "ui/widgets/severity.h"

namespace mantissa::ui {
namespace {

QString text(const std::string& value)
{
    return QString::fromStdString(value);
}

} // namespace

QString sourceText(const Finding& finding)
{
    QStringList parts;
    QStringList paths;
    for (const auto& path : finding.paths)
        paths << text(path);
    if (!paths.isEmpty())
        parts << paths.join(QStringLiteral(", "));
    const auto source =
        QStringLiteral("%1 %2 %3")
            .arg(text(finding.source.project), text(finding.source.version), text(finding.source.where))
            .simplified();
    if (!source.isEmpty())
        parts << source;
    if (!finding.engine.empty())
        parts << FindingsModel::tr("this engine: %1").arg(text(finding.engine));
    return parts.join(QStringLiteral("  ·  "));
}

void FindingsModel::setFindings(std::vector<Finding> findings)
{
    beginResetModel();
    m_findings = std::move(findings);
    endResetModel();
}

int FindingsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_findings.size());
}

QVariant FindingsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto& finding = m_findings[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        return QStringLiteral("%1: %2").arg(severityTitle(finding.severity, finding.stage),
                                            text(finding.message));
    case Qt::ToolTipRole:
    case WhyRole:
        return text(finding.why);
    case SeverityRole:
        return severityTitle(finding.severity, finding.stage);
    case StageRole:
        return stageTitleText(finding.stage);
    case MessageRole:
        return text(finding.message);
    case SourceRole:
        return sourceText(finding);
    case RuleRole:
        return text(finding.rule);
    case FixesRole: {
        QStringList titles;
        for (const auto& fix : finding.fixes)
            titles << text(fix.title);
        return titles;
    }
    default:
        return {};
    }
}

} // namespace mantissa::ui
