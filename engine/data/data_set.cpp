#include "engine/data/data_set.h"

#include "engine/tensor/guarded_torch.h"

#include <algorithm>

namespace mantissa {
namespace {

using Opened = Result<std::shared_ptr<const DataSet>>;

struct Open {
    std::uint64_t seed;
    bool test = false;

    Opened operator()(const FashionMnistPlan& plan) const { return openFashionMnist(plan, test); }
    Opened operator()(const CifarPlan& plan) const { return openCifar(plan, test); }
    Opened operator()(const NpyPlan& plan) const { return openNpy(plan); }
    Opened operator()(const CsvPlan& plan) const { return openCsv(plan); }
    Opened operator()(const TextPlan& plan) const { return openText(plan); }
    Opened operator()(const TextFolderPlan& plan) const { return openTextFolder(plan); }
    Opened operator()(const SyntheticPlan& plan) const { return openSynthetic(plan, seed); }
    Opened operator()(const TracePlan& plan) const { return openTrace(plan); }
};

/// The setting that says how large the model's input is.
std::string sizeSetting(const ModelPlan& model)
{
    if (std::holds_alternative<TransformerPlan>(model))
        return "model.init_args.context";
    const bool byInputs = std::holds_alternative<MlpPlan>(model) || std::holds_alternative<ScriptPlan>(model)
        || std::holds_alternative<GanPlan>(model);
    return byInputs ? "model.init_args.inputs" : "model.init_args.image_size";
}

std::string kindSetting(const ModelPlan& model)
{
    return std::holds_alternative<ScriptPlan>(model) ? "model.init_args.input" : "model.class_path";
}

/// Whether the model takes what the data gives: empty, or the setting that is wrong.
std::string mismatch(const Batch& sample, const ModelPlan& model)
{
    const ModelFace face = modelFace(model);
    const bool tokens = sample.input.scalar_type() == at::kLong;
    const std::int64_t dimensions = face.input == InputKind::Images ? 4 : 2;
    if (tokens != (face.input == InputKind::Tokens) || sample.input.dim() != dimensions)
        return kindSetting(model);
    if (tokens && sample.input.size(1) > face.inputs)
        return sizeSetting(model);
    if (tokens)
        return sample.input.max().item<std::int64_t>() < face.classes ? "" : "model.init_args.vocab";
    if (dimensions == 4 && sample.input.size(1) != face.channels)
        return "model.init_args.channels";
    if (sample.input.size(dimensions - 1) != face.inputs || sample.input.size(dimensions / 2) != face.inputs)
        return sizeSetting(model);
    return face.takesClasses(sample.target.max().item<std::int64_t>() + 1) ? "" : "model.init_args.classes";
}

Result<void> checkAgainstModel(const RunPlan& plan, const DataSet& data)
{
    std::vector<std::int64_t> first;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(data.size(), 256); ++i)
        first.push_back(i);
    const std::string setting = mismatch(data.take(first), plan.model);
    if (!setting.empty())
        return Error{ErrorCode::InvalidSetup,
                     "The data gives " + data.describe() + ", the model takes " + describeInput(plan.model)
                         + ".",
                     "Change " + setting + " or the data."};
    const bool bytes =
        std::holds_alternative<TextPlan>(plan.data) || std::holds_alternative<TextFolderPlan>(plan.data);
    if (const auto face = modelFace(plan.model); bytes && face.classes < 256)
        return Error{ErrorCode::InvalidSetup,
                     "Bytes need a vocabulary of 256, the model has " + std::to_string(face.classes) + ".",
                     "Set model.init_args.vocab to 256."};
    return {};
}

Result<DataSets> withTestSet(const RunPlan& plan, std::shared_ptr<const DataSet> train)
{
    auto test = std::visit(Open{plan.seed, true}, plan.data);
    if (!test)
        return test.error();
    return DataSets{std::move(train), *std::move(test)};
}

} // namespace

Result<DataSets> openData(const RunPlan& plan)
{
    return guardedTorch("opening the data", [&]() -> Result<DataSets> {
        auto opened = std::visit(Open{plan.seed}, plan.data);
        if (!opened)
            return opened.error();
        if (auto fits = checkAgainstModel(plan, **opened); !fits)
            return fits.error();
        if (!plan.validation.wanted())
            return DataSets{*std::move(opened), nullptr};
        if (plan.validation.testSet)
            return withTestSet(plan, *std::move(opened));
        const bool atEnd = modelFace(plan.model).input == InputKind::Tokens;
        return splitData(*std::move(opened), plan.validation.split, atEnd, plan.seed);
    });
}

} // namespace mantissa
