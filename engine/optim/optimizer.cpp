#include "engine/optim/optimizer.h"

#include "engine/optim/arithmetic.h"

#include <array>

namespace mantissa {
namespace {

constexpr std::array<const char*, 1> kSgdState = {"momentum_buffer"};
constexpr std::array<const char*, 3> kAdamState = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};

constexpr std::array kCatalogue = {
    OptimizerEntry{OptimizerKind::Sgd, "torch.optim.SGD", "SGD", kSgdState},
    OptimizerEntry{OptimizerKind::Adam, "torch.optim.Adam", "Adam", kAdamState},
    OptimizerEntry{OptimizerKind::AdamW, "torch.optim.AdamW", "AdamW", kAdamState},
};

const OptimizerEntry& entryOf(OptimizerKind kind)
{
    for (const auto& entry : kCatalogue) {
        if (entry.kind == kind)
            return entry;
    }
    throw std::invalid_argument("unknown optimizer");
}

bool foundInf(const StepScaling& scaling)
{
    return scaling.foundInf && scaling.foundInf->item<float>() != 0.0F;
}

} // namespace

std::span<const OptimizerEntry> optimizerCatalogue()
{
    return kCatalogue;
}

Optimizer::Optimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters)
    : m_plan(plan), m_rate(plan.learningRate), m_parameters(std::move(parameters))
{
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        m_steps.push_back(at::zeros({}, at::kFloat));
}

std::string Optimizer::className() const
{
    return entryOf(m_plan.kind).className;
}

std::vector<std::string> Optimizer::stateNames() const
{
    const auto& all = entryOf(m_plan.kind).state;
    if (m_plan.kind == OptimizerKind::Sgd)
        return m_plan.momentum != 0.0 ? std::vector<std::string>{all[0]} : std::vector<std::string>{};
    std::vector<std::string> names = {all[0], all[1]};
    if (m_plan.amsgrad)
        names.emplace_back(all[2]);
    return names;
}

double Optimizer::stepCount() const
{
    return m_steps.empty() ? 0.0 : static_cast<double>(m_steps.front().item<float>());
}

std::vector<at::Tensor> Optimizer::gradients() const
{
    std::vector<at::Tensor> gradients;
    for (const auto& parameter : m_parameters) {
        if (parameter.grad().defined())
            gradients.push_back(parameter.grad());
    }
    return gradients;
}

void Optimizer::makeState()
{
    if (!m_state.empty())
        return;
    for (const auto& name : stateNames()) {
        std::vector<at::Tensor> tensors;
        for (const auto& parameter : m_parameters)
            tensors.push_back(at::zeros_like(parameter.detach()));
        m_state.emplace_back(name, std::move(tensors));
    }
}

Optimizer::Active Optimizer::active() const
{
    Active active;
    active.state.resize(m_state.size());
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (!m_parameters[i].grad().defined())
            continue;
        active.parameters.push_back(m_parameters[i].detach());
        active.gradients.push_back(m_parameters[i].grad());
        active.steps.push_back(m_steps[i]);
        for (std::size_t s = 0; s < m_state.size(); ++s)
            active.state[s].push_back(m_state[s].second[i]);
    }
    return active;
}

void Optimizer::step(const StepScaling& scaling)
{
    const at::NoGradGuard noGrad;
    makeState();
    Active tensors = active();
    if (tensors.parameters.empty())
        return;
    at::_foreach_add_(tensors.steps, 1);
    update(tensors, scaling, !m_hasState);
    const bool skipped = foundInf(scaling);
    if (skipped)
        at::_foreach_sub_(tensors.steps, 1);
    m_hasState = m_hasState || !skipped;
}

void Optimizer::restore(const std::string& name, const std::vector<at::Tensor>& values)
{
    const at::NoGradGuard noGrad;
    makeState();
    for (auto& [key, tensors] : m_state) {
        if (key != name)
            continue;
        for (std::size_t i = 0; i < tensors.size(); ++i)
            tensors.at(i).copy_(values.at(i));
        m_hasState = true;
    }
}

void Optimizer::restoreStepCount(double count)
{
    for (auto& step : m_steps)
        step.fill_(count);
}

at::Tensor exactFactor(double value)
{
    return at::scalar_tensor(value, at::kDouble);
}

std::unique_ptr<Optimizer> makeOptimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters)
{
    return plan.kind == OptimizerKind::Sgd ? makeSgd(plan, std::move(parameters))
                                           : makeAdam(plan, std::move(parameters));
}

} // namespace mantissa
