#pragma once

#include "engine/metrics/sample.h"

#include <QAbstractTableModel>

#include <vector>

namespace mantissa::ui {

/// What happened in a run, newest first. Stage traces, which fill pages, are left out.
class EventsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Mark, AtStep, Where, What, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void clear();
    void append(const std::vector<RunEvent>& events);
    const RunEvent& event(int row) const
    {
        return m_events[m_events.size() - 1 - static_cast<std::size_t>(row)];
    }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<RunEvent> m_events; ///< Oldest first.
};

} // namespace mantissa::ui
