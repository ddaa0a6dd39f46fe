#include "engine/train/effective_loops.h"

#include <nlohmann/json.hpp>

#include <array>

namespace mantissa {
namespace {

using nlohmann::json;

constexpr std::array<const char*, std::variant_size_v<ModelPlan>> kModels = {
    "MLP", "ConvNet", "Transformer", "ResNet", "TorchScript", "GAN"};
constexpr std::array<const char*, std::variant_size_v<DataPlan>> kDatas = {
    "FashionMNIST", "TextBytes", "Synthetic", "TraceBatches", "CIFAR", "NumpyArrays", "CSV", "TextFolder"};

json validationOf(const ValidationPlan& plan)
{
    if (!plan.wanted())
        return nullptr;
    json validation = {{"sanity_batches", plan.sanityBatches}, {"every_n_epochs", plan.everyEpochs}};
    if (plan.testSet)
        validation["on"] = "test samples";
    else
        validation["on"] = json{{"share", plan.split}};
    if (plan.everyBatches > 0)
        validation["every_n_batches"] = plan.everyBatches;
    else
        validation["interval_share"] = plan.intervalShare;
    if (plan.limitBatches >= 0)
        validation["limit_batches"] = plan.limitBatches;
    else if (plan.limitShare < 1.0)
        validation["limit_share"] = plan.limitShare;
    return validation;
}

} // namespace

void addEffectiveLoops(json& settings, const RunPlan& plan)
{
    settings["model"] = kModels.at(plan.model.index());
    settings["data"] = kDatas.at(plan.data.index());
    settings["validation"] = validationOf(plan.validation);
    settings["callbacks"] = json::array();
    for (const auto& callback : plan.callbacks)
        settings["callbacks"].push_back(callbackName(callback));
    if (!plan.weightsFile.empty())
        settings["weights"] = plan.weightsFile;
    if (plan.limitBatches < 0 && plan.limitShare < 1.0)
        settings["limit_share"] = plan.limitShare;
    if (plan.minEpochs > 0)
        settings["min_epochs"] = plan.minEpochs;
    if (plan.minSteps > 0)
        settings["min_steps"] = plan.minSteps;
}

} // namespace mantissa
