#include "engine/optim/clip.h"

#include "engine/tensor/dtype.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mantissa {
namespace {

constexpr double kSmall = 1e-6; // Keeps the coefficient finite where the norm is 0.

at::Tensor wholeNorm(const std::vector<at::Tensor>& gradients, double p)
{
    std::vector<at::Tensor> norms;
    for (const auto& gradient : gradients)
        norms.push_back(at::linalg_vector_norm(gradient, p));
    return at::linalg_vector_norm(at::stack(norms), p);
}

double shardedNorm(const std::vector<at::Tensor>& gradients, double p, Strategy& strategy)
{
    double part = 0.0;
    for (const auto& gradient : gradients) {
        if (gradient.numel() == 0)
            continue;
        const auto wide = gradient.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
        const double norm = at::linalg_vector_norm(gradient, p, {}, false, wide).item<double>();
        part = std::isinf(p) ? std::max(part, norm) : part + std::pow(norm, p);
        if (std::isnan(norm))
            part = norm;
    }
    return std::isinf(p) ? strategy.maxOverShards(part) : std::pow(strategy.sumOverShards(part), 1.0 / p);
}

} // namespace

double totalNorm(const std::vector<at::Tensor>& gradients, double p, GradientParts parts, Strategy& strategy)
{
    if (!(p > 0.0))
        throw std::invalid_argument("the order of a gradient norm must be above 0");
    if (parts == GradientParts::Sharded)
        return shardedNorm(gradients, p, strategy);
    return gradients.empty() ? 0.0 : wholeNorm(gradients, p).item<double>();
}

double clipByNorm(const std::vector<at::Tensor>& gradients, double maxNorm, double p, GradientParts parts,
                  Strategy& strategy)
{
    const at::NoGradGuard noGrad;
    if (parts == GradientParts::Sharded) {
        const double norm = totalNorm(gradients, p, parts, strategy);
        const double limited = maxNorm / (norm + kSmall);
        const double coefficient = limited > 1.0 ? 1.0 : limited; // Written so that NaN stays NaN.
        for (const auto& gradient : gradients)
            gradient.mul_(at::scalar_tensor(coefficient, gradient.options()));
        return norm;
    }
    if (gradients.empty())
        return 0.0;
    const at::Tensor norm = wholeNorm(gradients, p);
    const at::Tensor coefficient = (maxNorm / (norm + kSmall)).clamp_max(1.0);
    for (const auto& gradient : gradients)
        gradient.mul_(coefficient);
    return norm.item<double>();
}

void clipByValue(const std::vector<at::Tensor>& gradients, double limit)
{
    const at::NoGradGuard noGrad;
    for (const auto& gradient : gradients)
        gradient.clamp_(-limit, limit);
}

double sumOfSquares(const std::vector<at::Tensor>& tensors)
{
    double sum = 0.0;
    for (const auto& tensor : tensors) {
        if (tensor.numel() == 0)
            continue;
        const double norm = isHalf(tensor.scalar_type())
            ? at::linalg_vector_norm(tensor, 2.0, {}, false, at::kFloat).item<double>()
            : at::linalg_vector_norm(tensor, 2.0).item<double>();
        sum += norm * norm;
    }
    return sum;
}

} // namespace mantissa
