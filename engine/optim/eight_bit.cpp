#include "engine/optim/arithmetic.h"
#include "engine/optim/eight_bit_state.h"

#include <cmath>
#include <map>

namespace mantissa {
namespace {

/// Optimizers whose states are kept in 8 bits: a block's states are made fp32, moved, and rounded again.
/// Weights and gradients stay what they are. As in bitsandbytes weight decay is decoupled in Adam too.
class EightBit final : public Optimizer {
public:
    EightBit(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
             std::vector<ParameterGroup> groups)
        : Optimizer(plan, std::move(parameters), std::move(groups)),
          m_signed(DynamicMap::Sign::Signed, plan.quantizer),
          m_unsigned(DynamicMap::Sign::Unsigned, plan.quantizer)
    {
    }

    std::vector<std::string> stateNames() const override
    {
        std::vector<std::string> names = ownNames();
        for (const auto& name : ownNames())
            names.push_back(name + kScales);
        return names;
    }

    /// In fp32, so that any world size and any optimizer can take them up.
    OptimizerState state() const override
    {
        OptimizerState state;
        for (const bool scales : {false, true}) {
            for (std::size_t s = 0; s < m_states.size(); ++s) {
                std::vector<at::Tensor> tensors;
                for (std::size_t i = 0; i < m_states[s].size(); ++i)
                    tensors.push_back(
                        (scales ? m_states[s][i].scales() : m_states[s][i].load()).view_as(parameters()[i]));
                state.emplace_back(ownNames()[s] + (scales ? kScales : ""), std::move(tensors));
            }
        }
        return state;
    }

    std::uint64_t stateBytes() const override
    {
        std::uint64_t bytes = 0;
        for (const auto& states : m_states) {
            for (const auto& state : states)
                bytes += state.bytes();
        }
        return bytes;
    }

    void restore(const std::string& name, const std::vector<at::Tensor>& values) override
    {
        const at::NoGradGuard noGrad;
        makeState();
        m_restored[name] = values;
        const auto names = ownNames();
        for (std::size_t s = 0; s < names.size(); ++s) {
            if (name != names[s] && name != names[s] + kScales)
                continue;
            const auto found = m_restored.find(names[s]);
            if (found == m_restored.end())
                continue;
            const auto scales = m_restored.find(names[s] + kScales);
            for (std::size_t i = 0; i < m_states[s].size(); ++i) {
                if (!found->second.at(i).defined())
                    continue;
                if (scales != m_restored.end() && scales->second.at(i).defined())
                    m_states[s][i].restore(found->second[i], scales->second[i]);
                else
                    m_states[s][i].store(found->second[i]);
            }
            setHasState();
        }
    }

protected:
    void makeState() override
    {
        if (!m_states.empty())
            return;
        const std::size_t count = ownNames().size();
        for (std::size_t s = 0; s < count; ++s) {
            m_states.emplace_back();
            for (const auto& parameter : parameters())
                m_states.back().emplace_back(s == 0 ? m_signed : m_unsigned, parameter.numel(),
                                             parameter.numel() >= plan().min8bitSize);
        }
    }

private:
    static constexpr const char* kScales = "_absmax";

    std::vector<std::string> ownNames() const
    {
        if (plan().kind == OptimizerKind::Sgd8bit)
            return {"momentum_buffer"};
        if (plan().kind == OptimizerKind::Lion8bit)
            return {"exp_avg"};
        return {"exp_avg", "exp_avg_sq"};
    }

    void update(Active& active, const StepScaling&, bool first) override
    {
        m_restored.clear();
        for (std::size_t i = 0; i < active.parameters.size(); ++i) {
            // On a copy where the weights are 16-bit: they are rounded once.
            at::Tensor parameter = active.parameters[i].reshape({-1}).to(at::kFloat);
            const at::Tensor gradient = active.gradients[i].reshape({-1}).to(at::kFloat);
            const std::size_t index = active.indices[i];
            if (plan().kind == OptimizerKind::Sgd8bit)
                stepSgd(active, parameter, gradient, m_states[0][index], first);
            else if (plan().kind == OptimizerKind::Lion8bit)
                stepLion(active, parameter, gradient, m_states[0][index]);
            else
                stepAdam(active, i, parameter, gradient);
            if (!parameter.is_alias_of(active.parameters[i]))
                active.parameters[i].copy_(parameter.view_as(active.parameters[i]));
        }
    }

    static void decay(const Active& active, at::Tensor& parameter)
    {
        if (active.plan.weightDecay > 0.0)
            parameter.mul_(1.0 - active.rate * active.plan.weightDecay);
    }

    void stepAdam(const Active& active, std::size_t i, at::Tensor& parameter, const at::Tensor& gradient)
    {
        const auto& plan = active.plan;
        auto& means = m_states[0][active.indices[i]];
        auto& squares = m_states[1][active.indices[i]];
        const auto step = static_cast<double>(active.steps[i].item<float>());
        at::Tensor mean = means.load();
        at::Tensor square = squares.load();
        mean.mul_(plan.beta1).add_(gradient, 1.0 - plan.beta1);
        square.mul_(plan.beta2).addcmul_(gradient, gradient, 1.0 - plan.beta2);
        const double meanCorrection = 1.0 - std::pow(plan.beta1, step);
        const double squareCorrection = std::sqrt(1.0 - std::pow(plan.beta2, step));
        decay(active, parameter);
        const at::Tensor size = square.sqrt().add_(plan.eps * squareCorrection);
        // A square so small that it was rounded to 0 says nothing of its size, and eps alone would let the
        // mean throw its weight far away.
        const at::Tensor known = mean.masked_fill(square.eq(0.0), 0.0);
        parameter.addcdiv_(known, size, -active.rate * squareCorrection / meanCorrection);
        means.store(mean);
        squares.store(square);
    }

    static void stepLion(const Active& active, at::Tensor& parameter, const at::Tensor& gradient,
                         EightBitState& state)
    {
        const auto& plan = active.plan;
        at::Tensor mean = state.load();
        decay(active, parameter);
        const at::Tensor direction = mean.mul(plan.beta1).add_(gradient, 1.0 - plan.beta1).sign_();
        parameter.add_(direction, -active.rate);
        mean.mul_(plan.beta2).add_(gradient, 1.0 - plan.beta2);
        state.store(mean);
    }

    static void stepSgd(const Active& active, at::Tensor& parameter, const at::Tensor& gradient,
                        EightBitState& state, bool first)
    {
        const auto& plan = active.plan;
        const at::Tensor decayed =
            plan.weightDecay > 0.0 ? gradient.add(parameter, plan.weightDecay) : gradient;
        const at::Tensor buffer = first ? decayed.clone() : state.load().mul_(plan.momentum).add_(decayed);
        parameter.add_(buffer, -active.rate);
        state.store(buffer);
    }

    DynamicMap m_signed;
    DynamicMap m_unsigned;
    std::vector<std::vector<EightBitState>> m_states; ///< [state][parameter]
    std::map<std::string, std::vector<at::Tensor>> m_restored; ///< Until the next step.
};

} // namespace

std::unique_ptr<Optimizer> makeEightBit(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                        std::vector<ParameterGroup> groups)
{
    return std::make_unique<EightBit>(plan, std::move(parameters), std::move(groups));
}

} // namespace mantissa
