#pragma once

#include "engine/recipe/step_plan.h"

#include <QAbstractTableModel>

#include <vector>

namespace mantissa::ui {

/// What was asked for and what is in effect, for everything the step shows. Made from the StepPlan.
class EffectiveModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Setting, Requested, Effective, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setPlan(const Setup& setup, const StepPlan& plan);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString setting;
        QString path;
        QString requested; ///< Empty: nobody asked.
        QString effective;
        bool differs() const { return !requested.isEmpty() && requested != effective; }
    };

    std::vector<Row> m_rows;
};

} // namespace mantissa::ui
