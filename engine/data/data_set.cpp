#include "engine/data/data_set.h"

#include "engine/tensor/guarded_torch.h"

#include <algorithm>

namespace mantissa {
namespace {

using Opened = Result<std::shared_ptr<const DataSet>>;

struct Open {
    std::uint64_t seed;
    Opened operator()(const FashionMnistPlan& plan) const { return openFashionMnist(plan); }
    Opened operator()(const TextPlan& plan) const { return openText(plan); }
    Opened operator()(const SyntheticPlan& plan) const { return openSynthetic(plan, seed); }
    Opened operator()(const TracePlan& plan) const { return openTrace(plan); }
};

/// Whether the model takes what the data gives: empty, or what is wrong.
struct Mismatch {
    const Batch& sample;

    std::string operator()(const MlpPlan& plan) const
    {
        const bool fits = sample.input.is_floating_point() && sample.input.dim() == 2
            && sample.input.size(1) == plan.inputs;
        return fits ? tooManyClasses(plan.classes) : "model.init_args.inputs";
    }
    std::string operator()(const ConvNetPlan& plan) const
    {
        const bool fits = sample.input.dim() == 4 && sample.input.size(1) == 1
            && sample.input.size(2) == plan.imageSize && sample.input.size(3) == plan.imageSize;
        return fits ? tooManyClasses(plan.classes) : "model.init_args.image_size";
    }
    std::string operator()(const TransformerPlan& plan) const
    {
        if (sample.input.scalar_type() != at::kLong || sample.input.dim() != 2)
            return "model.class_path";
        if (sample.input.size(1) > plan.context)
            return "model.init_args.context";
        return sample.input.max().item<std::int64_t>() < plan.vocab ? "" : "model.init_args.vocab";
    }
    std::string tooManyClasses(std::int64_t classes) const
    {
        return sample.target.max().item<std::int64_t>() < classes ? "" : "model.init_args.classes";
    }
};

} // namespace

Result<std::shared_ptr<const DataSet>> openDataSet(const RunPlan& plan)
{
    return guardedTorch("opening the data", [&]() -> Opened {
        auto opened = std::visit(Open{plan.seed}, plan.data);
        if (!opened)
            return opened;
        std::vector<std::int64_t> first;
        for (std::int64_t i = 0; i < std::min<std::int64_t>((*opened)->size(), 256); ++i)
            first.push_back(i);
        const Batch sample = (*opened)->take(first);
        const std::string setting = std::visit(Mismatch{sample}, plan.model);
        if (!setting.empty())
            return Error{ErrorCode::InvalidSetup,
                         "The data gives " + (*opened)->describe() + ", the model takes "
                             + describeInput(plan.model) + ".",
                         "Change " + setting + " or the data."};
        const auto* text = std::get_if<TextPlan>(&plan.data);
        const auto* transformer = std::get_if<TransformerPlan>(&plan.model);
        if (text && transformer && transformer->vocab < 256)
            return Error{ErrorCode::InvalidSetup,
                         "Bytes need a vocabulary of 256, the model has " + std::to_string(transformer->vocab)
                             + ".",
                         "Set model.init_args.vocab to 256."};
        return opened;
    });
}

} // namespace mantissa
