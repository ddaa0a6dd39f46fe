#pragma once

#include "engine/core/result.h"
#include "engine/model/model.h"
#include "engine/recipe/run_plan.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace mantissa {

/// Samples by number. Reading is a pure function of the numbers; safe from several threads.
class DataSet {
public:
    virtual ~DataSet() = default;

    virtual std::int64_t size() const = 0;
    virtual bool shuffles() const { return true; } ///< False: the recorded order is the order.
    virtual Batch take(std::span<const std::int64_t> samples) const = 0;
    virtual std::string describe() const = 0; ///< "rows of 784 numbers, 10 classes"
};

/// The data of the plan, checked against the model: an error says which setting to change.
Result<std::shared_ptr<const DataSet>> openDataSet(const RunPlan& plan);

Result<std::shared_ptr<const DataSet>> openFashionMnist(const FashionMnistPlan& plan);
Result<std::shared_ptr<const DataSet>> openText(const TextPlan& plan);
Result<std::shared_ptr<const DataSet>> openSynthetic(const SyntheticPlan& plan, std::uint64_t seed);
Result<std::shared_ptr<const DataSet>> openTrace(const TracePlan& plan);

} // namespace mantissa
