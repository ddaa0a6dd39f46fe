#include "engine/precision/fp8_linears.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace mantissa {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::string_view kScale = ".scale";
constexpr std::string_view kHistory = ".history";

struct Counts {
    double elements = 0.0;
    double saturated = 0.0;
    double flushed = 0.0;
};
constexpr std::size_t kCounts = 3;

/// One tensor of a layer.
struct Slot {
    Slot(const NumberFormat& numbers, at::ScalarType codes, const DelayedScaleRule& rule)
        : largest(numbers.largest()), dtype(codes), scale(numbers, rule)
    {
    }
    double largest;
    at::ScalarType dtype;
    DelayedScale scale;
    Counts counts;
};

} // namespace

struct Fp8Linears::Layer {
    explicit Layer(const DelayedScaleRule& rule)
        : slots{Slot(kE4m3, at::kFloat8_e4m3fn, rule), Slot(kE4m3, at::kFloat8_e4m3fn, rule),
                Slot(kE5m2, at::kFloat8_e5m2, rule)}
    {
    }
    Slot& of(Fp8Role role) { return slots[static_cast<std::size_t>(role)]; }

    std::array<Slot, kFp8Roles.size()> slots;
};

namespace {

void count(Slot& slot, const at::Tensor& values, const at::Tensor& scaled, const at::Tensor& codes)
{
    if (values.numel() == 0)
        return;
    slot.scale.see(values.abs().max().item<float>());
    slot.counts.elements += static_cast<double>(values.numel());
    slot.counts.saturated += scaled.abs().gt(slot.largest).sum().item<double>();
    slot.counts.flushed += (values.count_nonzero() - codes.to(at::kFloat).count_nonzero()).item<double>();
}

/// The codes of a tensor on the fp8 grid; decoded they are its values times the scale.
at::Tensor rounded(Slot& slot, const at::Tensor& tensor, bool counts)
{
    const at::Tensor values = tensor.to(at::kFloat);
    const at::Tensor scaled = values * static_cast<double>(slot.scale.now());
    const at::Tensor codes = scaled.clamp(-slot.largest, slot.largest).to(slot.dtype);
    if (counts)
        count(slot, values, scaled, codes);
    return codes;
}

/// a · b of codes, without their scales.
at::Tensor product(const at::Tensor& a, const at::Tensor& b, double scaleA, double scaleB)
{
    return at::mm(a.to(at::kFloat), b.to(at::kFloat)).mul_(1.0 / (scaleA * scaleB));
}

at::Tensor asRows(const at::Tensor& tensor)
{
    return tensor.reshape({-1, tensor.size(-1)});
}

struct Holder : torch::CustomClassHolder {
    explicit Holder(Fp8Linears::Layer& which) : layer(which) {}
    Fp8Linears::Layer& layer;
};

/// What the layer's output is kept in: what autocast would give it, else what its input has.
at::ScalarType carrier(const at::Tensor& input)
{
    return at::autocast::is_autocast_enabled(at::kCPU) ? at::autocast::get_autocast_dtype(at::kCPU)
                                                       : input.scalar_type();
}

struct Fp8Linear : torch::autograd::Function<Fp8Linear> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                              const std::optional<at::Tensor>& bias, Fp8Linears::Layer& layer, bool counts)
    {
        const at::ScalarType out = carrier(input);
        const c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::DispatchKey::AutocastCPU);
        Slot& ofInput = layer.of(Fp8Role::Input);
        Slot& ofWeight = layer.of(Fp8Role::Weight);
        const at::Tensor rows = rounded(ofInput, asRows(input), counts);
        const at::Tensor matrix = rounded(ofWeight, weight, counts);
        const double inputScale = static_cast<double>(ofInput.scale.now());
        const double weightScale = static_cast<double>(ofWeight.scale.now());
        context->save_for_backward({rows, matrix});
        auto& saved = context->saved_data;
        saved["layer"] = at::IValue::make_capsule(c10::make_intrusive<Holder>(layer));
        saved["input_scale"] = inputScale;
        saved["weight_scale"] = weightScale;
        saved["shape"] = input.sizes();
        saved["input_type"] = static_cast<std::int64_t>(input.scalar_type());
        saved["weight_type"] = static_cast<std::int64_t>(weight.scalar_type());
        if (bias)
            saved["bias_type"] = static_cast<std::int64_t>(bias->scalar_type());
        at::Tensor result = product(rows, matrix.t(), inputScale, weightScale);
        if (bias)
            result.add_(bias->to(at::kFloat));
        std::vector<std::int64_t> shape = input.sizes().vec();
        shape.back() = weight.size(0);
        return result.to(out).view(shape);
    }

    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        auto& saved = context->saved_data;
        const auto typeOf = [&](const char* name) {
            return static_cast<at::ScalarType>(saved.at(name).toInt());
        };
        const auto holder = c10::static_intrusive_pointer_cast<Holder>(saved.at("layer").toCapsule());
        const auto codes = context->get_saved_variables();
        Slot& slot = holder->layer.of(Fp8Role::Gradient);
        const at::Tensor incoming = asRows(gradients[0]);
        const at::Tensor gradient = rounded(slot, incoming, true);
        const double scale = static_cast<double>(slot.scale.now());
        variable_list results(5);
        if (context->needs_input_grad(0))
            results[0] = product(gradient, codes[1], scale, saved.at("weight_scale").toDouble())
                             .to(typeOf("input_type"))
                             .view(saved.at("shape").toDimVector());
        if (context->needs_input_grad(1))
            results[1] = product(gradient.t(), codes[0], scale, saved.at("input_scale").toDouble())
                             .to(typeOf("weight_type"));
        if (saved.count("bias_type") > 0 && context->needs_input_grad(2)) // no product: not rounded
            results[2] = incoming.to(at::kFloat).sum(0).to(typeOf("bias_type"));
        return results;
    }
};

} // namespace

Fp8Linears::Fp8Linears(const DelayedScaleRule& rule, Communicator& communicator)
    : m_rule(rule), m_communicator(communicator)
{
}

Fp8Linears::~Fp8Linears() = default;

Fp8Linears::Layer& Fp8Linears::layer(const std::string& name)
{
    return m_layers.try_emplace(name, m_rule).first->second;
}

at::Tensor Fp8Linears::apply(const std::string& name, const at::Tensor& input, const at::Tensor& weight,
                             const at::Tensor& bias)
{
    // An undefined tensor is no argument of an autograd function; a missing one is.
    const auto given = bias.defined() ? std::optional(bias) : std::nullopt;
    return Fp8Linear::apply(input, weight, given, layer(name), at::GradMode::is_enabled());
}

Fp8Losses Fp8Linears::closeStep()
{
    std::vector<float> seen;
    std::vector<double> counts;
    for (auto& [name, layer] : m_layers) {
        for (auto& slot : layer.slots) {
            seen.push_back(slot.scale.seen());
            counts.insert(counts.end(), {slot.counts.elements, slot.counts.saturated, slot.counts.flushed});
            slot.counts = {};
        }
    }
    if (m_communicator.size() > 1 && !seen.empty()) {
        m_communicator.allReduce(seen.data(), seen.size(), WireType::F32, ReduceOp::Max);
        m_communicator.allReduce(counts.data(), counts.size(), WireType::F64, ReduceOp::Sum);
    }
    Fp8Losses losses;
    std::array<Counts, kFp8Roles.size()> sums;
    std::size_t at = 0;
    for (auto& [name, layer] : m_layers) {
        for (std::size_t role = 0; role < kFp8Roles.size(); ++role, ++at) {
            layer.slots[role].scale.close(seen[at]);
            const double* mine = counts.data() + at * kCounts;
            sums[role].elements += mine[0];
            sums[role].saturated += mine[1];
            sums[role].flushed += mine[2];
            if (kFp8Roles[role] == Fp8Role::Gradient && mine[1] > losses.cut) {
                losses.cut = mine[1];
                losses.mostCut = name;
            }
        }
    }
    for (std::size_t role = 0; role < kFp8Roles.size(); ++role) {
        const double all = std::max(1.0, sums[role].elements);
        losses.of[role] = {sums[role].saturated / all, sums[role].flushed / all};
    }
    return losses;
}

NamedTensors Fp8Linears::state() const
{
    NamedTensors state;
    for (const auto& [name, layer] : m_layers) {
        std::size_t longest = 0;
        for (const auto& slot : layer.slots)
            longest = std::max(longest, slot.scale.history().size());
        // Of each tensor a row, the newest value last; -1 where one has seen less than the others.
        const at::Tensor histories =
            at::full({static_cast<std::int64_t>(layer.slots.size()), static_cast<std::int64_t>(longest)},
                     -1.0, at::kFloat);
        const at::Tensor scales = at::empty({static_cast<std::int64_t>(layer.slots.size())}, at::kFloat);
        for (std::size_t role = 0; role < layer.slots.size(); ++role) {
            const auto& scale = layer.slots[role].scale;
            float* row = histories.mutable_data_ptr<float>() + role * longest;
            std::copy(scale.history().begin(), scale.history().end(),
                      row + (longest - scale.history().size()));
            scales.mutable_data_ptr<float>()[role] = scale.now();
        }
        state.emplace_back(name + std::string(kHistory), histories);
        state.emplace_back(name + std::string(kScale), scales);
    }
    return state;
}

void Fp8Linears::restore(const NamedTensors& state)
{
    const auto roles = static_cast<std::int64_t>(kFp8Roles.size());
    for (const auto& [key, scales] : state) {
        if (!key.ends_with(kScale))
            continue;
        const std::string name = key.substr(0, key.size() - kScale.size());
        const at::Tensor histories = tensorNamed(state, name + std::string(kHistory));
        const auto fits = [roles](const at::Tensor& tensor, std::int64_t dimensions) {
            return tensor.defined() && tensor.scalar_type() == at::kFloat && tensor.dim() == dimensions
                && tensor.size(0) == roles;
        };
        if (!fits(scales, 1) || !fits(histories, 2))
            throw std::runtime_error("The checkpoint's fp8 scales of " + name + " are not whole.");
        for (std::int64_t role = 0; role < roles; ++role) {
            const at::Tensor row = histories[role].contiguous();
            const float* begin = row.const_data_ptr<float>();
            std::vector<float> history(begin, begin + row.numel());
            std::erase_if(history, [](float value) { return value < 0.0F; });
            layer(name).slots[static_cast<std::size_t>(role)].scale.restore(scales[role].item<float>(),
                                                                            std::move(history));
        }
    }
}

} // namespace mantissa
