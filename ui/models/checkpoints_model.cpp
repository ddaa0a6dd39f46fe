#include "ui/models/checkpoints_model.h"

#include "ui/text/format.h"
#include "ui/theme/fonts.h"

namespace mantissa::ui {

void CheckpointsModel::setCheckpoints(std::vector<CheckpointRecord> checkpoints)
{
    beginResetModel();
    m_checkpoints = std::move(checkpoints);
    endResetModel();
}

int CheckpointsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_checkpoints.size());
}

int CheckpointsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CheckpointsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto& checkpoint = m_checkpoints[static_cast<std::size_t>(index.row())];
    if (role == Qt::FontRole)
        return monoFont(TextSize::Small);
    if (role == Qt::ToolTipRole && index.column() == Sum)
        return QString::fromStdString(checkpoint.sha256);
    if (role == Qt::TextAlignmentRole)
        return QVariant((index.column() == AtStep || index.column() == Size ? Qt::AlignRight : Qt::AlignLeft)
                        | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case AtStep:
        return formatCount(checkpoint.step + 1);
    case File:
        return QString::fromStdString(checkpoint.path);
    case Size:
        return formatBytes(checkpoint.bytes);
    case Sum:
        return QString::fromStdString(checkpoint.sha256.substr(0, 16));
    case Kept:
        return checkpoint.kept ? tr("kept") : tr("replaced");
    default:
        return {};
    }
}

QVariant CheckpointsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section == AtStep || section == Size ? Qt::AlignRight : Qt::AlignLeft)
                        | Qt::AlignVCenter);
    const QStringList titles{tr("After steps"), tr("File"), tr("Size"), tr("SHA-256"), tr("State")};
    return role == Qt::DisplayRole ? QVariant(titles.value(section)) : QVariant();
}

} // namespace mantissa::ui
