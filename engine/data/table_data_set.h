#pragma once

#include "engine/data/data_set.h"

#include <array>
#include <functional>
#include <vector>

namespace mantissa {

/// Samples that are rows of floats with one class each.
struct LabelledRows {
    std::vector<std::int64_t> rowShape; ///< {784} or {1, 28, 28}
    std::int64_t classes = 0;
    std::int64_t rowLength = 0;
    /// Writes the numbers of one row.
    std::function<void(std::int64_t row, float* into)> fill;
    std::vector<std::int64_t> labels;
};

std::shared_ptr<const DataSet> makeLabelledRows(LabelledRows rows);

/// Rows of tokens, each one longer than the context: input is all but the last, target all but the first.
struct TokenRows {
    std::int64_t context = 0;
    std::int64_t vocab = 0;
    std::int64_t count = 0;
    std::function<void(std::int64_t row, std::int64_t* into)> fill; ///< context + 1 tokens
};

std::shared_ptr<const DataSet> makeTokenRows(TokenRows rows);

} // namespace mantissa
