#pragma once

#include "engine/recipe/field.h"

#include <QString>

#include <vector>

namespace mantissa::ui {

/// Settings of a form that belong together, under one heading.
struct FieldGroup {
    QString title; ///< "Optimizer", "EarlyStopping"
    std::vector<const Field*> fields;
};

/// Groups by what the settings are about; groups and settings keep the order of their first one.
std::vector<FieldGroup> fieldGroups(const std::vector<const Field*>& fields);

} // namespace mantissa::ui
