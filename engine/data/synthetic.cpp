#include "engine/data/data_set.h"
#include "engine/data/random.h"
#include "engine/data/table_data_set.h"
#include "engine/model/layers.h"

#include <algorithm>

namespace mantissa {
namespace {

constexpr std::uint64_t kDataStream = 2;
constexpr double kCentreSpread = 0.7; // Against noise of deviation 1: learnable, not trivial.
constexpr std::int64_t kSuccessors = 4;
constexpr double kSurprise = 0.1;
constexpr std::int64_t kKeptNumbers = std::int64_t{1} << 24; // 64 MiB of floats

Error wrong(const std::string& what)
{
    return {ErrorCode::InvalidSetup, "Synthetic data: " + what, "Check data.init_args."};
}

/// Rows made once and copied from then on, where they fit in memory: making them anew for every batch can
/// cost more than a small model's step.
LabelledRows keptRows(LabelledRows rows, std::int64_t length)
{
    const auto count = static_cast<std::int64_t>(rows.labels.size());
    if (count > kKeptNumbers / length)
        return rows;
    std::vector<float> kept(static_cast<std::size_t>(count * length));
    for (std::int64_t row = 0; row < count; ++row)
        rows.fill(row, kept.data() + row * length);
    rows.fill = [kept = std::move(kept), length](std::int64_t row, float* into) {
        std::copy_n(kept.data() + row * length, length, into);
    };
    return rows;
}

/// A cloud of points around one centre for each class.
std::shared_ptr<const DataSet> clouds(const SyntheticPlan& plan, std::vector<std::int64_t> shape,
                                      std::int64_t length, std::uint64_t seed)
{
    Random random(seed);
    std::vector<float> centres(static_cast<std::size_t>(plan.classes * length));
    for (auto& value : centres)
        value = static_cast<float>(random.normal() * kCentreSpread);
    LabelledRows rows;
    rows.rowShape = std::move(shape);
    rows.classes = plan.classes;
    for (std::int64_t i = 0; i < plan.samples; ++i)
        rows.labels.push_back(random.below(plan.classes));
    rows.fill = [centres = std::move(centres), labels = rows.labels, length, seed](std::int64_t row,
                                                                                   float* into) {
        Random noise(streamSeed(seed, kDataStream, static_cast<std::uint64_t>(row)));
        const float* centre = centres.data() + labels[static_cast<std::size_t>(row)] * length;
        for (std::int64_t i = 0; i < length; ++i)
            into[i] = centre[i] + static_cast<float>(noise.normal());
    };
    return makeLabelledRows(keptRows(std::move(rows), length));
}

/// A chain in which every token has a few likely successors.
std::shared_ptr<const DataSet> chains(const SyntheticPlan& plan, std::uint64_t seed)
{
    Random random(seed);
    std::vector<std::int64_t> successors(static_cast<std::size_t>(plan.classes * kSuccessors));
    for (auto& token : successors)
        token = random.below(plan.classes);
    TokenRows rows{plan.inputs, plan.classes, plan.samples, {}};
    rows.fill = [successors = std::move(successors), plan, seed](std::int64_t row, std::int64_t* into) {
        Random draw(streamSeed(seed, kDataStream, static_cast<std::uint64_t>(row)));
        std::int64_t token = draw.below(plan.classes);
        for (std::int64_t i = 0; i <= plan.inputs; ++i) {
            into[i] = token;
            const bool surprise = draw.uniform() < kSurprise;
            token = surprise
                ? draw.below(plan.classes)
                : successors[static_cast<std::size_t>(token * kSuccessors + draw.below(kSuccessors))];
        }
    };
    return makeTokenRows(std::move(rows));
}

} // namespace

Result<std::shared_ptr<const DataSet>> openSynthetic(const SyntheticPlan& plan, std::uint64_t seed)
{
    if (plan.inputs < 1 || plan.classes < 2 || plan.samples < 1)
        return wrong("inputs, classes and samples must be at least 1, 2 and 1.");
    constexpr std::int64_t kMost = std::int64_t{1} << 28;
    if (plan.inputs > kMost / plan.classes || plan.samples > kMost)
        return wrong("that is more than this engine makes up in memory.");
    const std::uint64_t stream = streamSeed(seed, kDataStream, 0);
    if (plan.shape == "vectors")
        return clouds(plan, {plan.inputs}, plan.inputs, stream);
    if (plan.shape == "images")
        return clouds(plan, {plan.channels, plan.inputs, plan.inputs},
                      plan.channels * plan.inputs * plan.inputs, stream);
    if (plan.shape == "tokens")
        return chains(plan, stream);
    return wrong("shape '" + plan.shape + "' is none of vectors, images, tokens.");
}

} // namespace mantissa
