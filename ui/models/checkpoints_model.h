#pragma once

#include "engine/history/run_writer.h"

#include <QAbstractTableModel>

#include <vector>

namespace mantissa::ui {

/// The checkpoints of a stored run.
class CheckpointsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { AtStep, File, Size, Sum, Kept, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setCheckpoints(std::vector<CheckpointRecord> checkpoints);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<CheckpointRecord> m_checkpoints;
};

} // namespace mantissa::ui
