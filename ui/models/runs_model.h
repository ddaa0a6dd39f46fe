#pragma once

#include "ui/models/run_query.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <map>
#include <optional>
#include <vector>

namespace mantissa::ui {

/// The stored runs, newest first. What has to be read from a run's file comes later and is told by
/// setFacts().
class RunsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        State,
        Name,
        Precision,
        Strategy,
        Optimizer,
        Steps,
        Loss,
        Skipped,
        Scale,
        Started,
        ColumnCount
    };
    static constexpr int kScaleRole = Qt::UserRole + 1; ///< QList<double>: the loss scale in a few points.

    using QAbstractTableModel::QAbstractTableModel;

    /// Rows keep their facts; where the folders are the same, nothing is reset and a selection stays.
    void setRuns(std::vector<RunSummaryRow> runs);
    void setRun(const RunSummaryRow& run);
    void setFacts(const std::filesystem::path& folder, RunFacts facts);

    const RunSummaryRow& run(int row) const { return m_runs[static_cast<std::size_t>(row)]; }
    const std::optional<RunFacts>& facts(int row) const;
    int rowOf(const std::filesystem::path& folder) const; ///< −1 where it is not there.

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const RunSummaryRow& run, const std::optional<RunFacts>& facts, int column) const;
    QVariant sortKey(const RunSummaryRow& run, const std::optional<RunFacts>& facts, int column) const;

    std::vector<RunSummaryRow> m_runs;
    std::map<std::filesystem::path, std::optional<RunFacts>> m_facts;
};

/// Those that a query accepts, sorted by a column.
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    static constexpr int kSortRole = Qt::UserRole + 2;

    explicit RunsFilter(RunsModel& runs, QObject* parent = nullptr);

    void setQuery(RunQuery query);
    const RunQuery& query() const { return m_query; }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    RunsModel& m_runs;
    RunQuery m_query;
};

} // namespace mantissa::ui
