#include "engine/optim/optimizer.h"

#include "engine/optim/arithmetic.h"
#include "engine/recipe/training_classes.h"

#include <nlohmann/json.hpp>

#include <array>
#include <numeric>

namespace mantissa {
namespace {

using Make = std::unique_ptr<Optimizer> (*)(const OptimizerPlan&, std::vector<at::Tensor>,
                                            std::vector<ParameterGroup>);

/// One optimizer that this engine has.
struct OptimizerEntry {
    OptimizerKind kind;
    Make make;
};

constexpr std::array kCatalogue = {
    OptimizerEntry{OptimizerKind::Sgd, makeSgd},
    OptimizerEntry{OptimizerKind::Adam, makeAdam},
    OptimizerEntry{OptimizerKind::AdamW, makeAdam},
    OptimizerEntry{OptimizerKind::Adagrad, makeAdagrad},
    OptimizerEntry{OptimizerKind::RmsProp, makeRmsProp},
    OptimizerEntry{OptimizerKind::Lion, makeLion},
    OptimizerEntry{OptimizerKind::Lbfgs, makeLbfgs},
    OptimizerEntry{OptimizerKind::Adam8bit, makeEightBit},
    OptimizerEntry{OptimizerKind::AdamW8bit, makeEightBit},
    OptimizerEntry{OptimizerKind::Lion8bit, makeEightBit},
    OptimizerEntry{OptimizerKind::Sgd8bit, makeEightBit},
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

Optimizer::Optimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                     std::vector<ParameterGroup> groups)
    : m_plan(plan),
      m_rate(plan.learningRate),
      m_parameters(std::move(parameters)),
      m_groups(std::move(groups))
{
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        m_steps.push_back(at::zeros({}, at::kFloat));
}

std::string Optimizer::className() const
{
    return std::string(optimizerName(m_plan.kind));
}

void Optimizer::setMomentum(double momentum)
{
    for (auto& group : m_groups)
        (m_plan.hasMomentum() ? group.plan.momentum : group.plan.beta1) = momentum;
}

double Optimizer::momentum() const
{
    const auto& plan = m_groups.front().plan;
    return m_plan.hasMomentum() ? plan.momentum : plan.beta1;
}

std::vector<std::string> Optimizer::stateNames() const
{
    return {};
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

std::uint64_t Optimizer::stateBytes() const
{
    std::uint64_t bytes = 0;
    for (const auto& [name, tensors] : m_state) {
        for (const auto& tensor : tensors)
            bytes += tensor.nbytes();
    }
    return bytes;
}

at::Tensor Optimizer::initialState(std::size_t, const at::Tensor& parameter) const
{
    return at::zeros_like(parameter.detach());
}

void Optimizer::makeState()
{
    if (!m_state.empty())
        return;
    for (const auto& name : stateNames()) {
        std::vector<at::Tensor> tensors;
        for (const auto& parameter : m_parameters)
            tensors.push_back(initialState(m_state.size(), parameter));
        m_state.emplace_back(name, std::move(tensors));
    }
}

Optimizer::Active Optimizer::active(const ParameterGroup& group) const
{
    const bool own = group.plan.learningRate != m_plan.learningRate && m_plan.learningRate > 0.0;
    Active active{group.plan, own ? m_rate * (group.plan.learningRate / m_plan.learningRate) : m_rate};
    active.state.resize(m_state.size());
    for (const auto i : group.members) {
        if (!m_parameters[i].grad().defined())
            continue;
        active.parameters.push_back(m_parameters[i].detach());
        active.gradients.push_back(m_parameters[i].grad());
        active.steps.push_back(m_steps[i]);
        active.indices.push_back(i);
        for (std::size_t s = 0; s < m_state.size(); ++s)
            active.state[s].push_back(m_state[s].second[i]);
    }
    return active;
}

void Optimizer::step(const StepScaling& scaling)
{
    const at::NoGradGuard noGrad;
    makeState();
    const bool skipped = foundInf(scaling);
    bool any = false;
    for (const auto& group : m_groups) {
        Active tensors = active(group);
        if (tensors.parameters.empty())
            continue;
        any = true;
        at::_foreach_add_(tensors.steps, 1);
        update(tensors, scaling, !m_hasState);
        if (skipped)
            at::_foreach_sub_(tensors.steps, 1);
    }
    m_hasState = m_hasState || (any && !skipped);
}

void Optimizer::stepWith(const Evaluation&)
{
    throw std::logic_error(className() + " evaluates once in a step and takes no closure");
}

void Optimizer::restore(const std::string& name, const std::vector<at::Tensor>& values)
{
    const at::NoGradGuard noGrad;
    makeState();
    for (auto& [key, tensors] : m_state) {
        if (key != name)
            continue;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (values.at(i).defined())
                tensors.at(i).copy_(values[i]);
        }
        m_hasState = true;
    }
}

void Optimizer::restoreStepCount(double count)
{
    for (auto& step : m_steps)
        step.fill_(count);
}

std::string Optimizer::stateDict() const
{
    return nlohmann::json{{"class", className()}, {"steps", stepCount()}}.dump();
}

void Optimizer::loadStateDict(const std::string& json)
{
    restoreStepCount(nlohmann::json::parse(json).at("steps").get<double>());
}

at::Tensor decayedGradient(const OptimizerPlan& plan, const at::Tensor& gradient, const at::Tensor& parameter)
{
    const at::Tensor uphill = plan.maximize ? -gradient : gradient;
    return plan.weightDecay != 0.0 ? uphill.add(parameter, plan.weightDecay) : uphill;
}

std::vector<at::Tensor> decayedGradients(const OptimizerPlan& plan, const std::vector<at::Tensor>& gradients,
                                         const std::vector<at::Tensor>& parameters)
{
    const auto uphill = plan.maximize ? at::_foreach_neg(gradients) : gradients;
    return plan.weightDecay != 0.0 ? at::_foreach_add(uphill, parameters, plan.weightDecay) : uphill;
}

at::Tensor exactFactor(double value)
{
    return at::scalar_tensor(value, at::kDouble);
}

std::unique_ptr<Optimizer> makeOptimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                         const std::vector<ParameterShape>& shapes)
{
    std::vector<ParameterGroup> groups;
    if (shapes.empty()) {
        groups.push_back({plan, std::vector<std::size_t>(parameters.size())});
        std::iota(groups[0].members.begin(), groups[0].members.end(), std::size_t{0});
    } else {
        groups = parameterGroups(plan, shapes);
    }
    return entryOf(plan.kind).make(plan, std::move(parameters), std::move(groups));
}

} // namespace mantissa
