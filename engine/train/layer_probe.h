#pragma once

#include "engine/model/model.h"
#include "engine/train/layer_sink.h"
#include "engine/train/step_report.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// What one tensor on its way through a layer looked like.
struct LayerReading {
    std::string layer; ///< "blocks.3"
    std::string quantity; ///< output | loss | output_gradient | weight_gradient
    std::int64_t batch = 0; ///< Micro batch of the run.
    double largest = 0.0; ///< Of the finite elements, without sign.
    std::int64_t nonfinite = 0;
    std::int64_t elements = 0;
};

/// Looks at every layer's output, and at the gradients on their way back, before any reduction. Around the
/// weights of one micro batch; lives until its backward pass is through.
class LayerProbe final : public WeightAccess {
public:
    LayerProbe(WeightAccess& weights, const Model& model, LayerSink sink)
        : m_weights(weights), m_model(model), m_sink(std::move(sink))
    {
    }
    ~LayerProbe() override;
    LayerProbe(const LayerProbe&) = delete;
    LayerProbe& operator=(const LayerProbe&) = delete;

    std::vector<at::Tensor> enter(int unit) override;
    at::Tensor leave(int unit, const at::Tensor& output) override;
    void loss(const at::Tensor& loss);

private:
    void watch(const at::Tensor& tensor, std::string layer, const char* quantity);

    WeightAccess& m_weights;
    const Model& m_model;
    const LayerSink m_sink;
    std::vector<std::pair<at::Tensor, unsigned>> m_hooks;
};

/// Reads what it is shown of one micro batch. Readings are in the order in which the values were made, so
/// that the first one with an Inf or NaN is where it began.
LayerSink readingInto(std::vector<LayerReading>& readings, std::int64_t batch);

/// The readings of a step as one note, and where an Inf or NaN began as another, if it did.
void noteReadings(StepReport& report, const std::vector<LayerReading>& readings);

} // namespace mantissa
