#pragma once

#include "engine/core/training_service.h"

#include <memory>

namespace mantissa {

/// The engine in this process: a run's ranks are threads here.
std::unique_ptr<TrainingService> makeLocalService();

} // namespace mantissa
