#pragma once

#include "ui/plot/run_series.h"

#include <QAbstractTableModel>

#include <vector>

namespace mantissa::ui {

/// The ranks of a run: in how many steps each one's own gradients were not finite, before the reduction, and
/// in how many what it held after it. Only the first says whose batch overflowed. And the memory of each.
class RanksModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { RankNumber, Before, After, Memory, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void clear();
    /// Counts what came since the last call.
    void refresh(const RunSeries& series);
    /// "Rank 2 overflows first; the Inf lands in other shards."
    QString remark() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Tally {
        std::size_t read = 0;
        std::int64_t steps = 0;
        bool take(const SeriesColumn* column);
    };
    struct Row {
        int rank = 0;
        Tally before;
        Tally after;
        double memory = -1.0; ///< Bytes; negative: not recorded.
    };

    static QString text(const Row& row, int column);
    void addRanks(const RunSeries& series);
    int worst() const;

    std::vector<Row> m_rows;
};

} // namespace mantissa::ui
