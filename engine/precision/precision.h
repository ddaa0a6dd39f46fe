#pragma once

#include "engine/optim/clip.h"
#include "engine/optim/optimizer.h"
#include "engine/precision/fp8_linears.h"
#include "engine/precision/loss_scaler.h"
#include "engine/recipe/run_plan.h"
#include "engine/tensor/torch.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// dtypes of one precision: gathered weights and compute, gradient reduction, buffers, and what parameters
/// are stored in.
struct PrecisionDtypes {
    at::ScalarType param;
    at::ScalarType reduce;
    at::ScalarType buffer;
    at::ScalarType stored;
    std::optional<at::ScalarType> input; ///< What float inputs are converted to before forward.
    std::optional<at::ScalarType> output = {}; ///< What the model's output is converted to first.
};

/// Lightning's table for plain precision plugins, and for FSDP's (fabric and pytorch
/// plugins/precision/{amp,half,fsdp}.py).
PrecisionDtypes precisionDtypes(PrecisionMode mode, bool sharded);
/// The same with what the plan sets by hand (paramDtype, reduceDtype).
PrecisionDtypes precisionDtypes(const RunPlan& plan);
bool usesLossScaler(PrecisionMode mode); ///< 16-mixed only.

/// Autocast on the CPU for the life of the object, on this thread; the weight-cast cache is cleared at the
/// end.
class AutocastScope {
public:
    AutocastScope(bool enabled, at::ScalarType dtype);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    bool m_enabled;
    bool m_wasEnabled = false;
    at::ScalarType m_previous = at::kBFloat16;
};

/// What a precision does at each place of a step, with the names that the ecosystem gives these places. One
/// object per rank. Unscaling, the step's decision and norms over shards communicate: all ranks make the same
/// calls.
class Precision {
public:
    Precision(const RunPlan& plan, Communicator& communicator);
    virtual ~Precision() = default;
    Precision(const Precision&) = delete;
    Precision& operator=(const Precision&) = delete;

    const PrecisionDtypes& dtypes() const { return m_dtypes; }

    /// Buffers take their dtype here, and linear layers the way they are computed; weights when the strategy
    /// takes them in.
    void convertModule(Model& model) const;
    at::Tensor convertInput(const at::Tensor& input) const; ///< Whole numbers stay as they are.
    at::Tensor convertOutput(const at::Tensor& output) const;
    AutocastScope forwardContext() const; ///< For forward and loss; the backward pass runs outside.
    at::Tensor preBackward(const at::Tensor& loss); ///< Scales it, where there is a scaler.

    virtual void unscaleGradients(Optimizer& optimizer);
    /// The norm from before, as the clipping call knows it.
    virtual double clipGradByNorm(Optimizer& optimizer, double maxNorm, double p, Strategy& strategy);
    virtual void clipGradByValue(Optimizer& optimizer, double limit);
    virtual bool optimizerStep(Optimizer& optimizer); ///< True: skipped.
    void updateScale();

    /// Null without a scaler.
    LossScaler* scaler() { return m_scaler.get(); }
    Fp8Linears* fp8() { return m_fp8.get(); } ///< Null where nothing is emulated.

    std::string stateDict() const; ///< JSON; an empty object without a scaler.
    void loadStateDict(const std::string& json); ///< Throws where it is not what stateDict() writes.

private:
    const RunPlan m_plan;
    PrecisionDtypes m_dtypes;
    std::unique_ptr<LossScaler> m_scaler;
    std::unique_ptr<Fp8Linears> m_fp8;
};

} // namespace mantissa
