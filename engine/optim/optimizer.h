#pragma once

#include "engine/optim/parameter_group.h"
#include "engine/recipe/run_plan.h"
#include "engine/tensor/torch.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// What a self-unscaling optimizer is told by the loss scaler. Empty members: nothing to divide by, nothing
/// to heed.
struct StepScaling {
    std::optional<at::Tensor> gradScale; ///< One fp32 number: the gradients are still multiplied by it.
    std::optional<at::Tensor> foundInf; ///< One fp32 number: exactly 1 where the step must not happen.
};

/// A closure of an optimizer that evaluates several times: makes the gradients anew and returns the loss, the
/// same on every rank. Sums and maxima go over all shards, whatever the strategy; all ranks call them alike.
struct Evaluation {
    std::function<double()> loss;
    std::function<double(double)> sumOverShards;
    std::function<double(double)> maxOverShards;
};

/// A state by name ("exp_avg"): a tensor for each parameter, in the parameter's own shape.
using OptimizerState = std::vector<std::pair<std::string, std::vector<at::Tensor>>>;

/// An optimizer over tensors that somebody else owns: whole weights or one-dimensional pieces of them, empty
/// ones included. Gradients come from .grad(); a tensor without one is left alone.
class Optimizer {
public:
    Optimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
              std::vector<ParameterGroup> groups);
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    const OptimizerPlan& plan() const { return m_plan; }
    bool selfUnscaling() const { return m_plan.selfUnscaling(); }
    std::string className() const; ///< "AdamW"

    double learningRate() const { return m_rate; }
    void setLearningRate(double rate) { m_rate = rate; } ///< Of the first group; others go in proportion.
    void setMomentum(double momentum); ///< Momentum, or the first beta.
    double momentum() const; ///< The one that setMomentum() sets.

    void step(const StepScaling& scaling = {});
    /// The step of an optimizer whose plan needs a closure.
    virtual void stepWith(const Evaluation& evaluation);
    double stepCount() const; ///< Steps really taken by the first parameter; skipped ones do not count.

    const std::vector<at::Tensor>& parameters() const { return m_parameters; }
    const std::vector<ParameterGroup>& groups() const { return m_groups; }
    std::vector<at::Tensor> gradients() const; ///< Those that exist.

    /// State tensors by name, none before the first step. All ranks have the same names and dtypes.
    virtual OptimizerState state() const { return m_state; }
    virtual std::vector<std::string> stateNames() const; ///< All that this optimizer keeps, made or not.
    bool hasState() const { return m_hasState; }
    virtual std::uint64_t stateBytes() const; ///< In memory now.
    virtual void restore(const std::string& name,
                         const std::vector<at::Tensor>& values); ///< Copies in place.
    void restoreStepCount(double count);

    /// What else it takes to go on, as JSON: class, steps taken, and what is no tensor.
    virtual std::string stateDict() const;
    virtual void loadStateDict(const std::string& json); ///< Throws where it is not what stateDict() writes.

protected:
    /// The tensors of one group in one step: only those with a gradient.
    struct Active {
        const OptimizerPlan& plan; ///< The group's.
        double rate = 0.0;
        std::vector<at::Tensor> parameters = {};
        std::vector<at::Tensor> gradients = {};
        std::vector<at::Tensor> steps = {};
        std::vector<std::vector<at::Tensor>> state = {}; ///< In the order of stateNames().
        std::vector<std::size_t> indices = {}; ///< Into parameters().
    };

    virtual void update(Active& active, const StepScaling& scaling, bool first) = 0;
    /// What a state begins with; zeros in the parameter's dtype unless an optimizer says otherwise.
    virtual at::Tensor initialState(std::size_t state, const at::Tensor& parameter) const;
    virtual void makeState();

    void setHasState() { m_hasState = true; }
    std::vector<at::Tensor>& steps() { return m_steps; }

private:
    Active active(const ParameterGroup& group) const;

    OptimizerPlan m_plan;
    double m_rate;
    std::vector<at::Tensor> m_parameters;
    std::vector<ParameterGroup> m_groups;
    std::vector<at::Tensor> m_steps;
    OptimizerState m_state;
    bool m_hasState = false;
};

/// `shapes` in the order of the parameters: what groups are made by. Empty: all are one group.
std::unique_ptr<Optimizer> makeOptimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                         const std::vector<ParameterShape>& shapes = {});

} // namespace mantissa
