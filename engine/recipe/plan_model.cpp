#include "engine/core/counted.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/path.h"
#include "engine/recipe/plan_parts.h"

namespace mantissa {

namespace {

MlpPlan mlp(PlanReader& reader)
{
    return {reader.integer(field::modelInputs), reader.integer(field::modelHidden),
            reader.integer(field::modelClasses), reader.integer(field::modelLayers, MlpPlan{}.layers)};
}

ConvNetPlan convNet(PlanReader& reader)
{
    const ConvNetPlan plan{reader.integer(field::modelChannels1), reader.integer(field::modelChannels2),
                           reader.integer(field::modelImageSize), reader.integer(field::modelClasses),
                           reader.flag(field::modelBatchNorm)};
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
    plan.width = reader.integer(field::modelWidth);
    plan.heads = reader.integer(field::modelHeads);
    plan.layers = reader.integer(field::modelLayers, plan.layers);
    plan.dropout = reader.number(field::modelDropout);
    plan.tiedHead = reader.flag(field::modelTiedHead);
    const auto attention = reader.word(field::modelAttention);
    plan.explicitAttention = attention == "explicit";
    if (attention != "explicit" && attention != "sdpa")
        reader.cannot(field::modelAttention.path, Value(attention), "Attention is sdpa or explicit.");
    if (plan.heads > 0 && plan.width % plan.heads != 0)
        reader.fail("A width of " + std::to_string(plan.width) + " cannot be shared out among "
                        + std::to_string(plan.heads) + " heads.",
                    "Make model.init_args.width a multiple of heads.");
    return plan;
}

/// What the model takes, in the words of data.init_args.shape.
std::string shapeOf(const ModelPlan& model)
{
    return std::holds_alternative<MlpPlan>(model)    ? "vectors"
        : std::holds_alternative<ConvNetPlan>(model) ? "images"
                                                     : "tokens";
}

std::int64_t inputsOf(const ModelPlan& model)
{
    if (const auto* net = std::get_if<MlpPlan>(&model))
        return net->inputs;
    if (const auto* net = std::get_if<ConvNetPlan>(&model))
        return net->imageSize;
    return std::get<TransformerPlan>(model).context;
}

std::int64_t classesOf(const ModelPlan& model)
{
    if (const auto* net = std::get_if<MlpPlan>(&model))
        return net->classes;
    if (const auto* net = std::get_if<ConvNetPlan>(&model))
        return net->classes;
    return std::get<TransformerPlan>(model).vocab;
}

void mismatch(PlanReader& reader, const std::string& what, const std::string& hint)
{
    reader.fail("The model does not fit the data: " + what + ".", hint);
}

void fashionMnist(PlanReader& reader, RunPlan& plan)
{
    FashionMnistPlan data;
    data.folder = reader.word(field::dataFolder);
    data.flat = std::holds_alternative<MlpPlan>(plan.model);
    const auto inputs = inputsOf(plan.model);
    if (shapeOf(plan.model) == "tokens")
        mismatch(reader, "Fashion-MNIST has images, and a transformer takes tokens",
                 "Use mantissa.MLP or mantissa.ConvNet, or other data.");
    else if (inputs != (data.flat ? 784 : 28))
        mismatch(reader, "images of 28 × 28 are 784 numbers, and it takes " + std::to_string(inputs),
                 data.flat ? "Set model.init_args.inputs to 784." : "Set model.init_args.image_size to 28.");
    else if (classesOf(plan.model) < 10)
        mismatch(reader,
                 "there are 10 classes, and it tells " + std::to_string(classesOf(plan.model)) + " apart",
                 "Set model.init_args.classes to 10.");
    plan.data = data;
}

void textBytes(PlanReader& reader, RunPlan& plan)
{
    TextPlan data;
    data.file = reader.word(field::dataFile);
    const auto* model = std::get_if<TransformerPlan>(&plan.model);
    data.context = reader.integer(field::dataContext, model ? model->context : data.context);
    if (data.file.empty())
        reader.fail("mantissa.TextBytes does not know its file.", "Set data.init_args.file to any file.");
    if (!model)
        mismatch(reader, "bytes are tokens, and only a transformer takes tokens",
                 "Use mantissa.Transformer, or other data.");
    else if (model->vocab < 256)
        mismatch(reader, "there are 256 bytes, and it tells " + counted(model->vocab, "token") + " apart",
                 "Set model.init_args.vocab to 256.");
    else if (data.context > model->context)
        mismatch(reader,
                 "rows have " + counted(data.context, "token") + ", and it takes at most "
                     + std::to_string(model->context),
                 "Leave data.init_args.context out: it follows the model.");
    plan.data = data;
}

void synthetic(PlanReader& reader, RunPlan& plan)
{
    SyntheticPlan data;
    const auto shape = reader.word(field::dataShape);
    data.shape = shape.empty() ? shapeOf(plan.model) : shape;
    data.inputs = reader.integer(field::dataInputs, inputsOf(plan.model));
    data.classes = reader.integer(field::dataClasses, classesOf(plan.model));
    data.samples = reader.integer(field::dataSamples);
    if (data.shape != shapeOf(plan.model))
        mismatch(reader, "the data are " + data.shape + ", and it takes " + shapeOf(plan.model),
                 "Leave data.init_args.shape out: it follows the model.");
    else if (data.inputs != inputsOf(plan.model) && data.shape != "tokens")
        mismatch(reader,
                 "samples have " + counted(data.inputs, "input") + ", and it takes "
                     + std::to_string(inputsOf(plan.model)),
                 "Leave data.init_args.inputs out: it follows the model.");
    else if (data.inputs > inputsOf(plan.model) || data.classes > classesOf(plan.model))
        mismatch(reader, "the data have more inputs or classes than it takes",
                 "Leave inputs and classes of the data out: they follow the model.");
    plan.data = data;
}

void trace(PlanReader& reader, RunPlan& plan)
{
    TracePlan data;
    data.dataFile = reader.word(field::dataFile);
    data.initFile = reader.word(field::dataInitFile);
    data.batchesPerEpoch = reader.integer(field::dataBatchesPerEpoch);
    if (data.dataFile.empty())
        reader.fail("mantissa.TraceBatches does not know its file.",
                    "Set data.init_args.file to a safetensors file with batches.");
    plan.data = data;
}

} // namespace

void planModel(PlanReader& reader, RunPlan& plan)
{
    constexpr std::string_view kHave = "mantissa.MLP, mantissa.ConvNet and mantissa.Transformer";
    const auto& written = reader.setup()[field::modelClass];
    const auto name = written.asString();
    if (name == "mantissa.MLP")
        plan.model = mlp(reader);
    else if (name == "mantissa.ConvNet")
        plan.model = convNet(reader);
    else if (name == "mantissa.Transformer")
        plan.model = transformer(reader);
    else if (name.empty())
        reader.fail("The set-up names no model that this engine knows.",
                    "Set model.class_path to one of " + std::string(kHave) + ".");
    else
        reader.cannot(field::modelClass.path, written,
                      "It has " + std::string(kHave) + ". Other models can be checked, not trained here.");
}

void planData(PlanReader& reader, RunPlan& plan)
{
    constexpr std::string_view kHave =
        "mantissa.FashionMNIST, mantissa.TextBytes, mantissa.Synthetic and mantissa.TraceBatches";
    const auto& written = reader.setup()[field::dataClass];
    const auto name = written.asString();
    if (name == "mantissa.FashionMNIST")
        fashionMnist(reader, plan);
    else if (name == "mantissa.TextBytes")
        textBytes(reader, plan);
    else if (name == "mantissa.Synthetic")
        synthetic(reader, plan);
    else if (name == "mantissa.TraceBatches")
        trace(reader, plan);
    else if (name.empty())
        reader.fail("The set-up names no data that this engine knows.",
                    "Set data.class_path to one of " + std::string(kHave) + ".");
    else
        reader.cannot(field::dataClass.path, written, "It has " + std::string(kHave) + ".");
    plan.batchSize = reader.integer(field::batchSize);
}

} // namespace mantissa
