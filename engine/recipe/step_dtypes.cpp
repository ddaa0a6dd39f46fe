#include "engine/recipe/step_dtypes.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"

namespace mantissa {

namespace {

std::string lowDtype(const std::string& precision)
{
    if (precision.starts_with("16-") || precision == "transformer-engine-float16")
        return "fp16";
    if (precision.starts_with("bf16-") || precision == "transformer-engine" || emulatesFp8(precision))
        return "bf16";
    return precision.starts_with("64-") ? "fp64" : "fp32";
}

/// FSDP's own mixed precision replaces the table's formats.
std::string shardDtype(const Setup& setup, std::string_view argument, const std::string& fallback)
{
    if (strategyAsked(setup) == "model_parallel") {
        const auto& policy =
            setup[argument == "param_dtype" ? field::shardParamDtype : field::shardReduceDtype];
        const auto named = dtypeName(policy.asString());
        return named.empty() ? fallback : named;
    }
    const auto& mixed = setup[field::fsdpMixedPrecision];
    const auto& written = mixed.isString() ? mixed : argumentOf(mixed, argument);
    const auto dtype = dtypeName(written.asString());
    return dtype.empty() ? fallback : dtype;
}

} // namespace

bool takesTokens(const Setup& setup)
{
    const auto model = setup[field::modelClass].asString();
    const auto data = setup[field::dataClass].asString();
    const bool script = model == "mantissa.TorchScript"
        && setup[field::modelInputKind].asString() == field::kModelInputKindChoices.back();
    return script || model == "mantissa.Transformer" || data == "mantissa.TextBytes"
        || data == "mantissa.TextFolder" || setup[field::dataShape].asString() == "tokens";
}

StepDtypes stepDtypes(const Setup& setup)
{
    const auto precision = precisionName(setup);
    const auto low = lowDtype(precision);
    const bool mixed = precision.ends_with("-mixed");
    const bool sharded = shardsWeights(setup);
    const bool fsdp2 =
        strategyAsked(setup) == "model_parallel"; // no table of formats: autocast, as without shards
    StepDtypes dtypes;
    dtypes.compute = sharded ? shardDtype(setup, "param_dtype", low) : low;
    dtypes.stored = mixed ? "fp32" : low;
    const auto gathered = fsdp2 ? shardDtype(setup, "param_dtype", dtypes.stored) : dtypes.compute;
    dtypes.raw = takesTokens(setup) ? "int64" : "fp32";
    const bool casts = !fsdp2 || setup.effective(field::shardCastInputs).asBool(true);
    const auto floats = !sharded ? dtypes.stored : casts ? gathered : dtypes.raw;
    dtypes.input = takesTokens(setup) ? "int64" : floats;
    dtypes.loss = mixed || sharded ? "fp32" : low;
    dtypes.gradient = sharded ? gathered : dtypes.stored;
    dtypes.gathered = dtypes.gradient; // autograd keeps the dtype of the weights
    dtypes.reduce = sharded ? shardDtype(setup, "reduce_dtype", fsdp2 ? gathered : low) : dtypes.gradient;
    dtypes.backward = dtypes.compute;
    if (emulatesFp8(precision)) {
        dtypes.compute = "fp8 e4m3";
        dtypes.backward = "fp8 e5m2";
    }
    return dtypes;
}

} // namespace mantissa
