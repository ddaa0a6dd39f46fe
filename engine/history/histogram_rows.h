#pragma once

#include "engine/numerics/exponent_histogram.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <vector>

namespace mantissa {

/// Rows of the table `histogram`. The counts' BLOB holds 64-bit integers: the exponent of the first bin that
/// is not empty, then the bins up to the last such one. Both throw SQLite::Exception.
void writeHistograms(SQLite::Database& database, const std::vector<TensorHistogram>& histograms);

/// By step, then in the order of tensors' names.
std::vector<TensorHistogram> readHistograms(SQLite::Database& database, std::int64_t firstStep,
                                            std::int64_t lastStep);

} // namespace mantissa
