#include "ui/models/ranks_model.h"

#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

#include <algorithm>
#include <utility>

namespace mantissa::ui {

bool RanksModel::Tally::take(const SeriesColumn* column)
{
    const auto before = steps;
    for (; column && read < column->size(); ++read)
        steps += column->levels.value(read) > 0.0 ? 1 : 0;
    return steps != before;
}

void RanksModel::clear()
{
    beginResetModel();
    m_rows.clear();
    endResetModel();
}

void RanksModel::addRanks(const RunSeries& series)
{
    std::vector<int> ranks;
    for (const auto& column : series.columns())
        if (column.spec.rank >= 0 && std::find(ranks.begin(), ranks.end(), column.spec.rank) == ranks.end())
            ranks.push_back(column.spec.rank);
    if (ranks.size() == m_rows.size())
        return;
    std::sort(ranks.begin(), ranks.end());
    beginResetModel();
    m_rows.clear();
    for (const int rank : ranks)
        m_rows.push_back({rank, {}, {}, -1.0});
    endResetModel();
}

void RanksModel::refresh(const RunSeries& series)
{
    addRanks(series);
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        auto& each = m_rows[row];
        const bool before = each.before.take(series.find("nonfinite_before", each.rank));
        const bool after = each.after.take(series.find("found_inf", each.rank));
        const auto* memory = series.find("memory", each.rank);
        const double now = memory && memory->size() > 0 ? memory->last() : -1.0;
        const bool grown = std::exchange(each.memory, now) != now;
        if (before || after || grown)
            emit dataChanged(index(static_cast<int>(row), Before), index(static_cast<int>(row), Memory));
    }
}

int RanksModel::worst() const
{
    int worst = -1;
    std::int64_t most = 0;
    for (const auto& row : m_rows) {
        if (row.before.steps > most) {
            most = row.before.steps;
            worst = row.rank;
        }
    }
    return worst;
}

QString RanksModel::remark() const
{
    const int rank = worst();
    if (rank < 0) {
        const bool summed =
            std::any_of(m_rows.begin(), m_rows.end(), [](const Row& row) { return row.after.steps > 0; });
        return summed ? tr("Each rank's gradients were finite; adding them up overflows.")
                      : tr("No rank had anything but finite gradients.");
    }
    const auto others =
        std::count_if(m_rows.begin(), m_rows.end(), [&](const Row& row) { return row.before.steps > 0; });
    if (others > 1)
        return tr("%1 ranks overflow by themselves.").arg(others);
    return m_rows.size() > 1
        ? tr("Rank %1 alone overflows; the reduction carries it to the others.").arg(rank)
        : tr("The only rank overflows.");
}

int RanksModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RanksModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RanksModel::text(const Row& row, int column)
{
    switch (column) {
    case RankNumber:
        return QString::number(row.rank);
    case Before:
        return formatCount(row.before.steps);
    case After:
        return formatCount(row.after.steps);
    default:
        return row.memory < 0.0 ? QStringLiteral("–") : formatBytes(static_cast<std::uint64_t>(row.memory));
    }
}

QVariant RanksModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto& row = m_rows[static_cast<std::size_t>(index.row())];
    const bool blamed = index.column() == Before && row.before.steps > 0;
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::FontRole:
        return monoFont(TextSize::Tiny);
    case Qt::TextAlignmentRole:
        return QVariant((index.column() == RankNumber ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::ForegroundRole:
        return blamed ? theme().warn : theme().text;
    case Qt::DecorationRole:
        return blamed ? QVariant(icon(QStringLiteral("differs"), theme().warn)) : QVariant();
    default:
        return {};
    }
}

QVariant RanksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section == RankNumber ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole)
        return section == Before
            ? tr("Steps in which this rank's own gradients held NaN or Inf, before the reduction")
            : section == After
            ? tr("Steps in which it held NaN or Inf after the reduction: with shards, its shard")
            : section == Memory ? tr("The most bytes of weights that were alive on it at once")
                                : QString();
    if (role != Qt::DisplayRole)
        return {};
    const QStringList titles{tr("Rank"), tr("not finite before"), tr("after"), tr("memory")};
    return titles.value(section);
}

} // namespace mantissa::ui
