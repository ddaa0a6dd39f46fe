#pragma once

#include "engine/recipe/run_plan.h"
#include "engine/recipe/weight_catalogue.h"
#include "engine/tensor/torch.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mantissa {

/// How a forward pass gets at the weights of a unit. The strategy answers: a replica hands out its leaf
/// tensors, a sharded one gathers them. Every output of a unit must pass leave(), so that the weights are
/// there again in backward.
class WeightAccess {
public:
    virtual ~WeightAccess() = default;
    virtual std::vector<at::Tensor> enter(int unit) = 0; ///< In the order of the unit's ParameterSpecs.
    virtual at::Tensor leave(int unit, const at::Tensor& output) = 0;

    /// Enters a unit, runs it and leaves it: for every unit with one input, so that it can be run again in
    /// backward and given back as soon as its backward is through. `body` is a function of its arguments and
    /// of the model's generator alone, and outlives the forward pass: it captures values, and the model.
    using UnitBody = std::function<at::Tensor(const at::Tensor&, const std::vector<at::Tensor>&)>;
    virtual at::Tensor run(int unit, const at::Tensor& input, const UnitBody& body)
    {
        const std::vector<at::Tensor> weights = enter(unit);
        return leave(unit, body(input, weights));
    }
};

/// One micro batch. `input` is float rows or images, or int64 tokens (B, T); `target` int64 (B) or (B, T).
struct Batch {
    at::Tensor input;
    at::Tensor target;
};

/// What a loss is made of. `wanted` whole numbers are classes: cross entropy. Floating-point ones, from 0 to
/// 1, are answers to yes-or-no questions: binary cross entropy, with logits.
struct Answers {
    at::Tensor scores;
    at::Tensor wanted;
};

/// Which pass of a run: random numbers that follow from it are the same after a resume, and on one rank as on
/// several.
struct PassPlace {
    std::size_t turn = 0; ///< Of which of the model's own optimizers.
    std::int64_t batch = 0; ///< Of the run.
    int rank = 0;
    int ranks = 1;
};

/// How a model computes its linear layers, where that is not LibTorch's way. Outlives every graph that went
/// through it.
class LinearMath {
public:
    virtual ~LinearMath() = default;
    /// `layer` is its name in the model; an undefined `bias` is none.
    virtual at::Tensor apply(const std::string& layer, const at::Tensor& input, const at::Tensor& weight,
                             const at::Tensor& bias) = 0;
};

/// A model as pure functions over weights that somebody else owns. One object per rank; holds buffers and the
/// rank's generator, never a parameter.
class Model {
public:
    virtual ~Model() = default;

    virtual const std::vector<ParameterSpec>& parameters() const = 0; ///< In `param_order`.
    virtual int
    unitCount() const = 0; ///< Units in forward order; the root unit, whose weights stay gathered, last.
    virtual std::string unitName(int unit) const = 0;
    /// Names and tensors of buffers (running statistics).
    virtual std::vector<std::pair<std::string, at::Tensor>> buffers() const { return {}; }
    virtual void convertBuffers(at::ScalarType) {}
    /// How much of a new batch goes into running statistics: 0.1, or 1/n while n batches are averaged anew.
    virtual void setNormMomentum(double) {}
    /// State of the generator that dropout draws from; undefined where the model draws nothing.
    virtual at::Tensor generatorState() const { return {}; }
    virtual void setGeneratorState(const at::Tensor&) {}

    /// Logits (rows, classes), ready for cross entropy with the batch's targets flattened.
    virtual at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) = 0;

    /// A forward pass of training.
    virtual Answers answer(const Batch& batch, WeightAccess& weights, const PassPlace&)
    {
        return {forward(batch.input, weights, true), batch.target.reshape({-1})};
    }

    void setLinearMath(LinearMath* math) { m_math = math; } ///< Null: LibTorch's.

protected:
    at::Tensor linear(const std::string& layer, const at::Tensor& input, const at::Tensor& weight,
                      const at::Tensor& bias = {}) const
    {
        return m_math ? m_math->apply(layer, input, weight, bias) : at::linear(input, weight, bias);
    }

private:
    LinearMath* m_math = nullptr;
};

/// Draws initial weights one after the other, so that nobody has to hold them all.
class WeightDrawer {
public:
    WeightDrawer(const ModelPlan& plan, std::uint64_t seed);
    at::Tensor next(); ///< In param order.

private:
    std::vector<ParameterSpec> m_specs;
    std::size_t m_next = 0;
    std::vector<at::Tensor> m_given; ///< Of a TorchScript file.
    std::int64_t m_inputs = 1;
    std::int64_t m_gpt2Blocks = 0; ///< Above 0: as GPT-2 of so many blocks.
    at::Generator m_generator;
};

/// Initial weights as PyTorch draws them (kaiming-uniform linear layers, normal embeddings) or as GPT-2's,
/// from one seed, in param order, fp32. Those of a TorchScript file come from it.
std::vector<at::Tensor> initialWeights(const ModelPlan& plan, std::uint64_t seed);

/// Batches of what shape the model takes: "64 numbers", "1×28×28 images", "tokens below 256, at most 128 in a
/// row".
std::string describeInput(const ModelPlan& plan);

std::unique_ptr<Model> makeModel(const ModelPlan& plan, std::uint64_t seed, int rank);

} // namespace mantissa
