#pragma once

#include "engine/recipe/run_plan.h"
#include "engine/tensor/torch.h"

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

/// An optimizer over tensors that somebody else owns: whole weights or one-dimensional pieces of them, empty
/// ones included. Gradients come from .grad(); a tensor without one is left alone.
class Optimizer {
public:
    Optimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters);
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    const OptimizerPlan& plan() const { return m_plan; }
    bool selfUnscaling() const { return m_plan.selfUnscaling(); }
    std::string className() const; ///< "AdamW"

    double learningRate() const { return m_rate; }
    void setLearningRate(double rate) { m_rate = rate; }

    void step(const StepScaling& scaling = {});
    double stepCount() const; ///< Steps really taken by the first parameter; skipped ones do not count.

    const std::vector<at::Tensor>& parameters() const { return m_parameters; }
    std::vector<at::Tensor> gradients() const; ///< Those that exist.

    /// State tensors by name ("exp_avg"), each in the shapes of parameters(). Made on first use; none before
    /// the first step.
    const std::vector<std::pair<std::string, std::vector<at::Tensor>>>& state() const { return m_state; }
    std::vector<std::string> stateNames() const; ///< All that this optimizer keeps, made or not.
    bool hasState() const { return m_hasState; }
    void restore(const std::string& name, const std::vector<at::Tensor>& values); ///< Copies in place.
    void restoreStepCount(double count);

protected:
    /// The tensors of one step: only those with a gradient.
    struct Active {
        std::vector<at::Tensor> parameters;
        std::vector<at::Tensor> gradients;
        std::vector<at::Tensor> steps;
        std::vector<std::vector<at::Tensor>> state; ///< In the order of stateNames().
    };

    virtual void update(Active& active, const StepScaling& scaling, bool first) = 0;

private:
    void makeState();
    Active active() const;

    OptimizerPlan m_plan;
    double m_rate;
    std::vector<at::Tensor> m_parameters;
    std::vector<at::Tensor> m_steps;
    std::vector<std::pair<std::string, std::vector<at::Tensor>>> m_state;
    bool m_hasState = false;
};

/// One optimizer that this engine has.
struct OptimizerEntry {
    OptimizerKind kind;
    const char* classPath; ///< "torch.optim.AdamW"
    const char* className;
    std::span<const char* const> state;
};

std::span<const OptimizerEntry> optimizerCatalogue();

std::unique_ptr<Optimizer> makeOptimizer(const OptimizerPlan& plan, std::vector<at::Tensor> parameters);

} // namespace mantissa
