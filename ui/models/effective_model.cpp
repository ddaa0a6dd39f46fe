#include "ui/models/effective_model.h"

#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/severity.h"

namespace mantissa::ui {

namespace {

/// What was written, as a person says it: the short name of a class, a number without its way of writing.
QString requestedText(const Value& value, const QString& effective)
{
    if (!value.isScalar() || !value.isSet())
        return effective;
    const auto written = QString::fromStdString(value.isString() ? value.asString() : value.text());
    const auto last = written.section(QLatin1Char('.'), -1);
    if (value.isString() && last == effective)
        return last;
    bool isNumber = false;
    const auto digits = effective.section(QLatin1Char(' '), -1); // "÷ 4", "× 65536"
    const double shown = digits.toDouble(&isNumber);
    return isNumber && value.isNumber() && shown == value.asDouble() ? effective : written;
}

} // namespace

void EffectiveModel::setPlan(const Setup& setup, const StepPlan& plan)
{
    beginResetModel();
    m_rows.clear();
    for (const auto& stage : plan.stages) {
        if (!stage.present)
            continue;
        for (const auto& chip : stage.chips) {
            Row row{QString::fromStdString(chip.label),
                    QString::fromStdString(chip.path),
                    {},
                    QString::fromStdString(chip.value)};
            if (chip.asked && !chip.path.empty())
                row.requested = requestedText(setup.at(chip.path), row.effective);
            m_rows.push_back(row);
        }
        if (!stage.dtype.empty())
            m_rows.push_back({tr("%1 dtype").arg(stageTitleText(stage.stage)),
                              {},
                              {},
                              QString::fromStdString(stage.dtype)});
    }
    endResetModel();
}

int EffectiveModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int EffectiveModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant EffectiveModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto& row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == Setting)
            return row.setting;
        if (index.column() == Requested)
            return row.requested.isEmpty() ? QStringLiteral("–") : row.requested;
        return row.differs() ? QStringLiteral("≠ ") + row.effective : row.effective;
    case Qt::ToolTipRole:
        return row.path.isEmpty() ? row.setting : row.path;
    case Qt::AccessibleTextRole:
        return row.differs()
            ? tr("%1: requested %2, differs: %3").arg(row.setting, row.requested, row.effective)
            : tr("%1: %2").arg(row.setting, row.effective);
    case Qt::FontRole:
        return index.column() == Setting ? uiFont(TextSize::Tiny) : monoFont(TextSize::Tiny);
    case Qt::ForegroundRole:
        return index.column() == Requested && row.requested.isEmpty() ? theme().text2 : theme().text;
    case Qt::BackgroundRole:
        return row.differs() ? QVariant(theme().warnWeak) : QVariant();
    default:
        return {};
    }
}

QVariant EffectiveModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return QStringList{tr("Setting"), tr("Requested"), tr("Effective")}.value(section);
}

} // namespace mantissa::ui
