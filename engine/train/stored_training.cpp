#include "engine/train/stored_training.h"

#include "engine/checkpoint/checkpoint.h"
#include "engine/model/model.h"
#include "engine/train/trainer_state.h"

#include <utility>

namespace mantissa {
namespace {

std::string shapeText(at::IntArrayRef shape)
{
    std::string text = "[";
    for (const auto size : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + "]";
}

} // namespace

Result<InitialTensors> initialTensors(const RunPlan& plan, const NamedTensors& stored,
                                      const std::string& source)
{
    const auto model = makeModel(plan.model, plan.seed, 0);
    InitialTensors initial;
    for (const auto& spec : model->parameters()) {
        const at::Tensor weight = tensorNamed(stored, spec.name);
        if (!weight.defined() || weight.sizes() != at::IntArrayRef(spec.shape) || !weight.is_floating_point())
            return Error{ErrorCode::Damaged,
                         source
                             + (weight.defined()
                                    ? " holds '" + spec.name + "' as " + shapeText(weight.sizes())
                                    : " lacks '" + spec.name + "'")
                             + "; the model needs " + shapeText(spec.shape) + ".",
                         "The stored weights and the model must be of one kind."};
        initial.weights.push_back(weight);
    }
    for (const auto& [name, buffer] : model->buffers()) {
        const at::Tensor found = tensorNamed(stored, name);
        if (!found.defined())
            continue;
        if (found.sizes() != buffer.sizes())
            return Error{ErrorCode::Damaged,
                         source + " holds '" + name + "' as " + shapeText(found.sizes())
                             + "; the model needs " + shapeText(buffer.sizes()) + ".",
                         "The stored buffers and the model must be of one kind."};
        initial.buffers.emplace_back(name, found);
    }
    return initial;
}

Result<StoredTraining> readTraining(const RunPlan& plan, const std::filesystem::path& checkpoint)
{
    auto state = readCheckpoint(checkpoint);
    if (!state)
        return state.error();
    auto position = readPosition(state->json);
    if (!position)
        return position.error();
    StoredTraining stored;
    stored.position = *std::move(position);
    NamedTensors ofModel;
    for (auto& [name, tensor] : state->tensors) {
        if (name.starts_with(state_name::kWeight) || name.starts_with(state_name::kBuffer))
            ofModel.emplace_back(name.substr(name.find('.') + 1), std::move(tensor));
        else
            stored.states.emplace_back(name, std::move(tensor));
    }
    auto initial = initialTensors(plan, ofModel, checkpoint.string());
    if (!initial)
        return initial.error();
    stored.initial = *std::move(initial);
    return stored;
}

} // namespace mantissa
