#include "engine/train/layer_probe.h"

#include "engine/core/counted.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace mantissa {
namespace {

using nlohmann::json;

using namespace layer_quantity;

std::string placeWords(const LayerReading& reading)
{
    if (reading.quantity == kLoss)
        return "the loss";
    if (reading.quantity == kOutput)
        return "the output of " + reading.layer;
    if (reading.quantity == kOutputGradient)
        return "the gradient that reaches the output of " + reading.layer;
    return "the gradient of the weights of " + reading.layer;
}

Stage stageOf(const LayerReading& reading)
{
    if (reading.quantity == kLoss)
        return Stage::Loss;
    return reading.quantity == kOutput ? Stage::Forward : Stage::Backward;
}

json jsonOf(const LayerReading& reading)
{
    return {{"layer", reading.layer},     {"quantity", reading.quantity},   {"batch", reading.batch},
            {"largest", reading.largest}, {"nonfinite", reading.nonfinite}, {"elements", reading.elements}};
}

} // namespace

LayerProbe::~LayerProbe()
{
    for (auto& [tensor, hook] : m_hooks)
        tensor.remove_hook(hook);
}

LayerSink readingInto(std::vector<LayerReading>& readings, std::int64_t batch)
{
    return [&readings, batch](const std::string& layer, const char* quantity, const at::Tensor& tensor) {
        const at::NoGradGuard noGrad;
        LayerReading reading{layer, quantity, batch, 0.0, 0, tensor.numel()};
        if (tensor.numel() > 0) {
            const at::Tensor finite = tensor.isfinite();
            reading.nonfinite = tensor.numel() - finite.sum().item<std::int64_t>();
            reading.largest =
                tensor.detach().abs().masked_fill(finite.logical_not(), 0.0).max().item<double>();
        }
        readings.push_back(std::move(reading));
    };
}

void LayerProbe::watch(const at::Tensor& tensor, std::string layer, const char* quantity)
{
    if (!tensor.requires_grad())
        return;
    const unsigned hook =
        tensor.register_hook([this, layer = std::move(layer), quantity](const at::Tensor& gradient) {
            if (gradient.defined())
                m_sink(layer, quantity, gradient);
            return gradient;
        });
    m_hooks.emplace_back(tensor, hook);
}

std::vector<at::Tensor> LayerProbe::enter(int unit)
{
    auto weights = m_weights.enter(unit);
    for (const auto& weight : weights)
        watch(weight, m_model.unitName(unit), kWeightGradient);
    return weights;
}

at::Tensor LayerProbe::leave(int unit, const at::Tensor& output)
{
    m_sink(m_model.unitName(unit), kOutput, output);
    watch(output, m_model.unitName(unit), kOutputGradient);
    return m_weights.leave(unit, output);
}

void LayerProbe::loss(const at::Tensor& loss)
{
    m_sink({}, kLoss, loss);
}

void noteReadings(StepReport& report, const std::vector<LayerReading>& readings)
{
    json all = json::array();
    for (const auto& reading : readings)
        all.push_back(jsonOf(reading));
    report.notes.push_back({"layers",
                            Stage::Record,
                            "What every layer put out and got back.",
                            {},
                            json{{"readings", all}}.dump()});
    const auto first = std::find_if(readings.begin(), readings.end(),
                                    [](const LayerReading& reading) { return reading.nonfinite > 0; });
    if (first == readings.end())
        return;
    json detail = jsonOf(*first);
    detail["order"] = first - readings.begin();
    report.notes.push_back({"origin", stageOf(*first),
                            counted(first->nonfinite, "element") + " of " + placeWords(*first)
                                + (first->nonfinite == 1 ? " is" : " are")
                                + " Inf or NaN, and nothing before, in batch " + std::to_string(first->batch)
                                + ".",
                            first->layer, detail.dump()});
}

} // namespace mantissa
