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

/// What a run trains on and what it validates on.
struct DataSets {
    std::shared_ptr<const DataSet> train;
    std::shared_ptr<const DataSet> validation; ///< Null where the plan wants none.
};

/// The data of the plan, checked against the model: an error says which setting to change.
Result<DataSets> openData(const RunPlan& plan);

Result<std::shared_ptr<const DataSet>> openFashionMnist(const FashionMnistPlan& plan, bool test = false);
Result<std::shared_ptr<const DataSet>> openCifar(const CifarPlan& plan, bool test = false);
Result<std::shared_ptr<const DataSet>> openNpy(const NpyPlan& plan);
Result<std::shared_ptr<const DataSet>> openCsv(const CsvPlan& plan);
Result<std::shared_ptr<const DataSet>> openText(const TextPlan& plan);
Result<std::shared_ptr<const DataSet>> openTextFolder(const TextFolderPlan& plan);
Result<std::shared_ptr<const DataSet>> openSynthetic(const SyntheticPlan& plan, std::uint64_t seed);
Result<std::shared_ptr<const DataSet>> openTrace(const TracePlan& plan);

/// A part of the samples, kept back for validation, and the rest. Tokens: the end of the text; else drawn
/// from the seed.
DataSets splitData(std::shared_ptr<const DataSet> whole, double share, bool atEnd, std::uint64_t seed);

} // namespace mantissa
