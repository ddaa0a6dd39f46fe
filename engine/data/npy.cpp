#include "engine/data/data_set.h"
#include "engine/data/npy_file.h"
#include "engine/data/table_data_set.h"

#include <algorithm>
#include <cmath>

namespace mantissa {
namespace {

Error misfit(const std::string& what, const std::string& hint)
{
    return {ErrorCode::InvalidSetup, what, hint};
}

Result<std::vector<std::int64_t>> classesIn(const NpyArray& targets, const std::string& file)
{
    if (targets.kind == 'f')
        return misfit(file + " holds floats, and a class is a whole number.",
                      "In Python: numpy.save(file, array.astype('<i8')).");
    if (targets.shape.size() != 1)
        return misfit(file + " has " + std::to_string(targets.shape.size()) + " axes, and classes have one.",
                      "In Python: numpy.save(file, array.reshape(-1)); for one-hot rows, array.argmax(1).");
    std::vector<std::int64_t> classes;
    for (std::int64_t i = 0; i < targets.shape[0]; ++i) {
        classes.push_back(static_cast<std::int64_t>(targets.at(i)));
        if (classes.back() < 0)
            return misfit(file + ": entry " + std::to_string(i) + " is the class "
                              + std::to_string(classes.back()) + ".",
                          "Classes count from 0.");
    }
    return classes;
}

/// {784}, or {1, 28, 28} for images with or without an axis for channels.
Result<std::vector<std::int64_t>> rowShapeOf(const NpyArray& inputs, const NpyPlan& plan)
{
    if (inputs.shape.size() < 2)
        return misfit(plan.inputs + " has one axis, and each sample needs at least one of its own.",
                      "In Python: numpy.save(file, array.reshape(-1, 1)).");
    if (plan.flat)
        return std::vector<std::int64_t>{inputs.rowLength()};
    std::vector<std::int64_t> shape(inputs.shape.begin() + 1, inputs.shape.end());
    if (shape.size() == 2)
        shape.insert(shape.begin(), 1);
    if (shape.size() != 3 || shape[1] != shape[2])
        return misfit(plan.inputs + " holds no square images with the channels first.",
                      "In Python: numpy.save(file, array.transpose(0, 3, 1, 2)), or use mantissa.MLP.");
    return shape;
}

} // namespace

Result<std::shared_ptr<const DataSet>> openNpy(const NpyPlan& plan)
{
    auto inputs = readNpy(plan.inputs, "data.init_args.inputs_file");
    if (!inputs)
        return inputs.error();
    const auto targets = readNpy(plan.targets, "data.init_args.targets_file");
    if (!targets)
        return targets.error();
    auto labels = classesIn(*targets, plan.targets);
    if (!labels)
        return labels.error();
    auto shape = rowShapeOf(*inputs, plan);
    if (!shape)
        return shape.error();
    if (inputs->shape[0] != targets->shape[0])
        return misfit(plan.inputs + " has " + std::to_string(inputs->shape[0]) + " samples, and "
                          + plan.targets + " has " + std::to_string(targets->shape[0]) + " classes for them.",
                      "Both files need as many entries along their first axis.");
    LabelledRows rows;
    rows.rowShape = *std::move(shape);
    rows.classes = *std::max_element(labels->begin(), labels->end()) + 1;
    rows.labels = *std::move(labels);
    const bool shades =
        inputs->kind == 'u' && inputs->bytes == 1; // bytes are pictures: 0 … 255 becomes 0 … 1
    rows.fill = [inputs = *std::move(inputs), shades](std::int64_t row, float* into) {
        const std::int64_t length = inputs.rowLength();
        for (std::int64_t i = 0; i < length; ++i)
            into[i] = static_cast<float>(inputs.at(row * length + i)) / (shades ? 255.0F : 1.0F);
    };
    return makeLabelledRows(std::move(rows));
}

} // namespace mantissa
