#include "engine/strategy/recompute.h"

#include "engine/precision/precision.h"

#include <memory>

namespace mantissa {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the second run needs to be like the first.
struct Record {
    WeightAccess& weights;
    Model& model;
    int unit;
    WeightAccess::UnitBody body;
    at::Tensor generator;
    bool autocast;
    at::ScalarType dtype;
};

struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<Record> kept) : record(std::move(kept)) {}
    std::shared_ptr<Record> record;
};

/// The model's generator as it was, until the end of the scope.
class GeneratorScope {
public:
    GeneratorScope(Model& model, const at::Tensor& state) : m_model(model), m_now(model.generatorState())
    {
        if (state.defined())
            m_model.setGeneratorState(state);
    }
    ~GeneratorScope()
    {
        if (m_now.defined())
            m_model.setGeneratorState(m_now);
    }
    GeneratorScope(const GeneratorScope&) = delete;
    GeneratorScope& operator=(const GeneratorScope&) = delete;

private:
    Model& m_model;
    at::Tensor m_now;
};

// No leave(): the weights are needed at once, and the gradients give the unit back.
at::Tensor runAgain(const Record& record, const at::Tensor& input)
{
    const GeneratorScope generator(record.model, record.generator);
    const at::AutoGradMode withGraph(true);
    const AutocastScope autocast(record.autocast, record.dtype);
    return record.body(input, record.weights.enter(record.unit));
}

struct Segment : torch::autograd::Function<Segment> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor&,
                              std::shared_ptr<Record> record)
    {
        context->save_for_backward({input});
        context->saved_data["record"] = at::IValue::make_capsule(c10::make_intrusive<Holder>(record));
        const at::NoGradGuard noGraph;
        return record->weights.leave(record->unit, record->body(input, record->weights.enter(record->unit)));
    }
    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        const auto holder =
            c10::static_intrusive_pointer_cast<Holder>(context->saved_data["record"].toCapsule());
        const bool wanted = context->needs_input_grad(0);
        const at::Tensor input = context->get_saved_variables()[0].detach().set_requires_grad(wanted);
        const at::Tensor output = runAgain(*holder->record, input);
        if (output.requires_grad())
            torch::autograd::backward({output},
                                      {gradients[0]}); // on this thread: LibTorch nests up to 60 levels
        return {wanted ? input.grad() : at::Tensor(), at::Tensor(), at::Tensor()};
    }
};

} // namespace

Recompute::Recompute(WeightAccess& weights, Model& model)
    : m_weights(weights), m_model(model), m_anchor(at::zeros({1}).set_requires_grad(true))
{
}

at::Tensor Recompute::run(int unit, const at::Tensor& input, const UnitBody& body)
{
    if (!at::GradMode::is_enabled())
        return m_weights.run(unit, input, body);
    const at::Tensor state = m_model.generatorState();
    auto record = std::make_shared<Record>(
        Record{m_weights, m_model, unit, body, state.defined() ? state.clone() : state,
               at::autocast::is_autocast_enabled(at::kCPU), at::autocast::get_autocast_dtype(at::kCPU)});
    return Segment::apply(input, m_anchor, std::move(record));
}

} // namespace mantissa
