#pragma once

#include "engine/core/training_service.h"
#include "engine/train/session.h"

#include <memory>

namespace mantissa {

/// The engine in this process: a run's ranks are threads here. One run trains at a time.
std::unique_ptr<TrainingService> makeLocalService();
std::unique_ptr<TrainingService> makeLocalService(const SessionOptions& options);

} // namespace mantissa
