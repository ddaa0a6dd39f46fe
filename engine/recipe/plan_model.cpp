#include "engine/recipe/fields.h"
#include "engine/recipe/plan_choice.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::array kInputKinds = {
    PlanChoice{"vectors", InputKind::Vectors},
    PlanChoice{"images", InputKind::Images},
    PlanChoice{"tokens", InputKind::Tokens},
};
constexpr std::array kPositions = {
    PlanChoice{"learned", PositionKind::Learned},
    PlanChoice{"rotary", PositionKind::Rotary},
};
constexpr std::array kActivations = {
    PlanChoice{"gelu", ActivationKind::Gelu},
    PlanChoice{"gelu_tanh", ActivationKind::GeluTanh},
    PlanChoice{"swiglu", ActivationKind::SwiGlu},
};
constexpr std::array kNorms = {
    PlanChoice{"layer", NormKind::Layer},
    PlanChoice{"rms", NormKind::Rms},
};
constexpr std::array kInits = {
    PlanChoice{"torch", InitKind::Torch},
    PlanChoice{"gpt2", InitKind::Gpt2},
};
constexpr std::array kAttentions = {
    PlanChoice{"sdpa", false},
    PlanChoice{"explicit", true},
};

MlpPlan mlp(PlanReader& reader)
{
    return {reader.integer(field::modelInputs), reader.integer(field::modelHidden),
            reader.integer(field::modelClasses), reader.integer(field::modelLayers, MlpPlan{}.layers)};
}

ConvNetPlan convNet(PlanReader& reader)
{
    const ConvNetPlan plan{reader.integer(field::modelChannels1),
                           reader.integer(field::modelChannels2),
                           reader.integer(field::modelImageSize, ConvNetPlan{}.imageSize),
                           reader.integer(field::modelClasses),
                           reader.flag(field::modelBatchNorm),
                           reader.integer(field::modelChannels, ConvNetPlan{}.inputChannels)};
    if (plan.imageSize % 4 != 0)
        reader.fail("model.init_args.image_size is " + std::to_string(plan.imageSize)
                        + ", and is halved twice.",
                    "Use a multiple of 4.");
    return plan;
}

TransformerPlan transformer(PlanReader& reader)
{
    TransformerPlan plan;
    plan.vocab = reader.integer(field::modelVocab);
    plan.context = reader.integer(field::modelContext);
    plan.width = reader.integer(field::modelWidth, plan.width);
    plan.heads = reader.integer(field::modelHeads);
    plan.layers = reader.integer(field::modelLayers, plan.layers);
    plan.dropout = reader.number(field::modelDropout);
    plan.tiedHead = reader.flag(field::modelTiedHead);
    plan.explicitAttention = choose(reader, field::modelAttention, kAttentions);
    plan.positions = choose(reader, field::modelPositions, kPositions);
    plan.activation = choose(reader, field::modelActivation, kActivations);
    plan.norm = choose(reader, field::modelNorm, kNorms);
    plan.init = choose(reader, field::modelInit, kInits);
    if (plan.heads > 0 && plan.width % plan.heads != 0)
        reader.fail("A width of " + std::to_string(plan.width) + " cannot be shared out among "
                        + std::to_string(plan.heads) + " heads.",
                    "Make model.init_args.width a multiple of heads.");
    else if (plan.heads > 0 && plan.positions == PositionKind::Rotary && plan.width / plan.heads % 2 != 0)
        reader.fail("Rotary positions turn pairs of numbers, and a head has "
                        + std::to_string(plan.width / plan.heads) + " of them.",
                    "Make model.init_args.width an even multiple of heads.");
    return plan;
}

ResNetPlan resNet(PlanReader& reader)
{
    ResNetPlan plan;
    plan.width = reader.integer(field::modelWidth, plan.width);
    plan.blocks = reader.integer(field::modelBlocks);
    plan.imageSize = reader.integer(field::modelImageSize, plan.imageSize);
    plan.classes = reader.integer(field::modelClasses);
    plan.inputChannels = reader.integer(field::modelChannels, plan.inputChannels);
    return plan;
}

ScriptPlan script(PlanReader& reader)
{
    ScriptPlan plan;
    plan.file = reader.word(field::modelFile);
    plan.input = choose(reader, field::modelInputKind, kInputKinds);
    plan.inputs = reader.integer(field::modelInputs);
    plan.classes = reader.integer(field::modelClasses);
    plan.inputChannels = reader.integer(field::modelChannels, plan.inputChannels);
    if (plan.file.empty())
        reader.fail("mantissa.TorchScript does not know its file.",
                    "Set model.init_args.file to a file that torch.jit.save wrote.");
    if (!reader.word(field::modelWeights).empty())
        reader.fail("A TorchScript file brings its weights along, and model.init_args.weights names others.",
                    "Remove model.init_args.weights.");
    return plan;
}

GanPlan gan(PlanReader& reader)
{
    GanPlan plan;
    plan.inputs = reader.integer(field::modelInputs);
    plan.latent = reader.integer(field::modelLatent);
    plan.hidden = reader.integer(field::modelHidden);
    plan.layers = reader.integer(field::modelLayers, plan.layers);
    plan.discriminatorSteps = reader.integer(field::discriminatorSteps);
    return plan;
}

struct ModelEntry {
    std::string_view name;
    ModelPlan (*read)(PlanReader&);
};

constexpr std::array kModels = {
    ModelEntry{"mantissa.MLP", [](PlanReader& reader) { return ModelPlan(mlp(reader)); }},
    ModelEntry{"mantissa.ConvNet", [](PlanReader& reader) { return ModelPlan(convNet(reader)); }},
    ModelEntry{"mantissa.ResNet", [](PlanReader& reader) { return ModelPlan(resNet(reader)); }},
    ModelEntry{"mantissa.Transformer", [](PlanReader& reader) { return ModelPlan(transformer(reader)); }},
    ModelEntry{"mantissa.GAN", [](PlanReader& reader) { return ModelPlan(gan(reader)); }},
    ModelEntry{"mantissa.TorchScript", [](PlanReader& reader) { return ModelPlan(script(reader)); }},
};

} // namespace

void planModel(PlanReader& reader, RunPlan& plan)
{
    constexpr std::string_view kHave =
        "mantissa.MLP, mantissa.ConvNet, mantissa.ResNet, mantissa.Transformer, mantissa.GAN and "
        "mantissa.TorchScript";
    const auto& written = reader.setup()[field::modelClass];
    const auto name = written.asString();
    const auto* entry =
        std::find_if(kModels.begin(), kModels.end(), [&](const auto& model) { return model.name == name; });
    if (entry != kModels.end()) {
        plan.model = entry->read(reader);
        plan.weightsFile = reader.word(field::modelWeights);
    } else if (name.empty())
        reader.fail("The set-up names no model that this engine knows.",
                    "Set model.class_path to one of " + std::string(kHave) + ".");
    else
        reader.cannot(field::modelClass.path, written,
                      "It has " + std::string(kHave) + ". Other models can be checked, not trained here.");
}

} // namespace mantissa
