#include "engine/core/places.h"
#include "engine/data/data_set.h"
#include "engine/data/idx.h"
#include "engine/data/table_data_set.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr std::int64_t kSide = 28;
constexpr std::int64_t kClasses = 10;
constexpr float kMean = 0.2860F; // Of the training images, as everybody normalises them.
constexpr float kDeviation = 0.3530F;

Result<IdxBytes> readPart(const std::filesystem::path& folder, const std::string& name)
{
    const auto packed = folder / (name + ".gz");
    std::error_code ignored;
    return readIdx(std::filesystem::exists(packed, ignored) ? packed : folder / name);
}

Error missing(const FashionMnistPlan& plan, const Error& cause)
{
    if (!plan.folder.empty())
        return {ErrorCode::NotFound, "Fashion-MNIST is not in " + plan.folder + ": " + cause.message,
                "The folder needs train-images-idx3-ubyte and train-labels-idx1-ubyte, and t10k-… to "
                "validate on, "
                "with or without .gz."};
    return {ErrorCode::NotFound, "Fashion-MNIST is not installed: " + cause.message,
            "Install Debian's package: apt-get install dataset-fashion-mnist. Or name a folder in "
            "data.init_args.folder."};
}

} // namespace

Result<std::shared_ptr<const DataSet>> openFashionMnist(const FashionMnistPlan& plan, bool test)
{
    const std::filesystem::path folder = plan.folder.empty() ? kFashionMnistFolder : plan.folder;
    const std::string part = test ? "t10k" : "train";
    auto images = readPart(folder, part + "-images-idx3-ubyte");
    if (!images)
        return images.error().code == ErrorCode::NotFound ? missing(plan, images.error()) : images.error();
    const auto labels = readPart(folder, part + "-labels-idx1-ubyte");
    if (!labels)
        return labels.error().code == ErrorCode::NotFound ? missing(plan, labels.error()) : labels.error();
    const bool fits = images->sizes.size() == 3 && images->sizes[1] == kSide && images->sizes[2] == kSide
        && labels->sizes.size() == 1 && labels->sizes[0] == images->sizes[0];
    if (!fits || std::any_of(labels->bytes.begin(), labels->bytes.end(), [](auto label) {
            return label >= kClasses;
        }))
        return Error{ErrorCode::Damaged,
                     folder.string() + " does not hold Fashion-MNIST: sizes or labels do not fit.",
                     "Install or copy the four files again, or use other data."};

    LabelledRows rows;
    rows.rowShape =
        plan.flat ? std::vector<std::int64_t>{kSide * kSide} : std::vector<std::int64_t>{1, kSide, kSide};
    rows.classes = kClasses;
    rows.labels.assign(labels->bytes.begin(), labels->bytes.end());
    std::array<float, 256> shade{};
    for (std::size_t value = 0; value < shade.size(); ++value)
        shade[value] = (static_cast<float>(value) / 255.0F - kMean) / kDeviation;
    rows.fill = [bytes = std::move(images->bytes), shade](std::int64_t row, float* into) {
        const std::uint8_t* pixel = bytes.data() + row * kSide * kSide;
        std::transform(pixel, pixel + kSide * kSide, into, [&](std::uint8_t value) { return shade[value]; });
    };
    return makeLabelledRows(std::move(rows));
}

} // namespace mantissa
