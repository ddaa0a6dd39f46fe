#include "engine/callbacks/average.h"

#include "engine/model/model.h"
#include "engine/strategy/strategy.h"

namespace mantissa {
namespace {

constexpr const char* kAverage = "average";

at::Tensor averageOf(const at::Tensor& value)
{
    const bool half = value.scalar_type() == at::kHalf || value.scalar_type() == at::kBFloat16;
    return value.detach().to(half ? at::kFloat : value.scalar_type(), false, true);
}

void approach(std::vector<at::Tensor>& average, const std::vector<at::Tensor>& now, double share)
{
    const bool first = average.empty();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (first)
            average.push_back(averageOf(now[i]));
        else if (average[i].is_floating_point())
            average[i].lerp_(now[i].detach().to(average[i].scalar_type()), share);
        else
            average[i].copy_(now[i]); // a counter has no mean
    }
}

std::vector<at::Tensor> buffersOf(TrainingView& view)
{
    std::vector<at::Tensor> buffers;
    for (const auto& [name, buffer] : view.model().buffers())
        buffers.push_back(buffer);
    return buffers;
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors)
{
    std::vector<at::Tensor> copied;
    for (const auto& tensor : tensors)
        copied.push_back(tensor.detach().clone());
    return copied;
}

void put(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& into)
{
    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; i < from.size(); ++i)
        into[i].detach().copy_(from[i]);
}

} // namespace

void WeightAverage::update(TrainingView& view, double share, bool buffers)
{
    const at::NoGradGuard noGrad;
    approach(m_weights, view.strategy().parameters(), share);
    if (buffers)
        approach(m_buffers, buffersOf(view), share);
}

void WeightAverage::put(TrainingView& view)
{
    mantissa::put(m_weights, view.strategy().parameters());
    mantissa::put(m_buffers, buffersOf(view));
    view.strategy().endOfStep(); // what is gathered shows the weights from before
}

void WeightAverage::swapIn(TrainingView& view)
{
    if (isEmpty())
        return;
    m_weightsBefore = copies(view.strategy().parameters());
    m_buffersBefore = m_buffers.empty() ? std::vector<at::Tensor>() : copies(buffersOf(view));
    put(view);
}

void WeightAverage::swapOut(TrainingView& view)
{
    if (m_weightsBefore.empty())
        return;
    mantissa::put(m_weightsBefore, view.strategy().parameters());
    mantissa::put(m_buffersBefore, buffersOf(view));
    view.strategy().endOfStep();
    m_weightsBefore.clear();
    m_buffersBefore.clear();
}

void WeightAverage::moveIn(TrainingView& view)
{
    if (!isEmpty())
        put(view);
}

CallbackState WeightAverage::stateWith(std::string json) const
{
    CallbackState state{std::move(json), {}, {}};
    if (!isEmpty())
        state.tensors.emplace_back(kAverage, m_weights);
    for (std::size_t i = 0; i < m_buffers.size(); ++i)
        state.own.emplace_back(std::to_string(i), m_buffers[i]);
    return state;
}

void WeightAverage::load(const CallbackState& state)
{
    m_weights.clear();
    for (const auto& [name, tensors] : state.tensors) {
        if (name == kAverage)
            m_weights = copies(tensors);
    }
    m_buffers.clear();
    for (const auto& [name, tensor] : state.own)
        m_buffers.push_back(tensor.clone());
}

} // namespace mantissa
