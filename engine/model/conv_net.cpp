#include "engine/model/layers.h"

namespace mantissa {
namespace {

constexpr std::int64_t kKernel = 3;
constexpr double kMomentum = 0.1;
constexpr double kEps = 1e-5;

/// Two convolutions, the first with optional batch norm and pooling, and a linear layer: the root.
class ConvNet final : public Model {
public:
    explicit ConvNet(const ConvNetPlan& plan) : m_batchNorm(plan.batchNorm)
    {
        const std::int64_t half = plan.imageSize / 2;
        m_weights.addPair("conv1", {plan.channels1, 1, kKernel, kKernel}, plan.channels1, kFirst);
        if (m_batchNorm) {
            m_weights.addPair("bn1", {plan.channels1}, plan.channels1, kFirst);
            m_mean = at::zeros({plan.channels1});
            m_variance = at::ones({plan.channels1});
            m_tracked = at::zeros({}, at::kLong);
        }
        m_weights.addPair("conv2", {plan.channels2, plan.channels1, kKernel, kKernel}, plan.channels2,
                          kSecond);
        m_weights.addPair("fc", {plan.classes, plan.channels2 * half * half}, plan.classes, kRoot);
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return kRoot + 1; }
    std::string unitName(int unit) const override
    {
        return unit == kFirst ? "conv1" : unit == kSecond ? "conv2" : "fc";
    }

    std::vector<std::pair<std::string, at::Tensor>> buffers() const override
    {
        if (!m_batchNorm)
            return {};
        return {{"bn1.running_mean", m_mean},
                {"bn1.running_var", m_variance},
                {"bn1.num_batches_tracked", m_tracked}};
    }

    void convertBuffers(at::ScalarType type) override
    {
        if (!m_batchNorm)
            return;
        m_mean = m_mean.to(type);
        m_variance = m_variance.to(type);
    }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) override
    {
        const auto first = weights.enter(kFirst);
        at::Tensor x = at::conv2d(input, first[0], first[1], 1, 1);
        if (m_batchNorm)
            x = normalised(x, first[2], first[3], training);
        x = weights.leave(kFirst, at::max_pool2d(at::relu(x), 2));
        x = weights.run(kSecond, x, [](const at::Tensor& images, const std::vector<at::Tensor>& w) {
            return at::relu(at::conv2d(images, w[0], w[1], 1, 1));
        });
        const auto root = weights.enter(kRoot);
        return weights.leave(kRoot, at::linear(at::flatten(x, 1), root[0], root[1]));
    }

private:
    static constexpr int kFirst = 0;
    static constexpr int kSecond = 1;
    static constexpr int kRoot = 2;

    at::Tensor normalised(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          bool training)
    {
        if (training)
            m_tracked.add_(1);
        return at::batch_norm(x, weight, bias, m_mean, m_variance, training, kMomentum, kEps, false);
    }

    bool m_batchNorm;
    WeightCatalogue m_weights;
    at::Tensor m_mean;
    at::Tensor m_variance;
    at::Tensor m_tracked;
};

} // namespace

std::unique_ptr<Model> makeConvNet(const ConvNetPlan& plan)
{
    return std::make_unique<ConvNet>(plan);
}

} // namespace mantissa
