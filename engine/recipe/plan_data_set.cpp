#include "engine/core/counted.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_choice.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::array kCifarVersions = {
    PlanChoice{"cifar10", false},
    PlanChoice{"cifar100", true},
};

/// Kinds of samples where the model does not look at them.
constexpr std::int64_t kClassesOfNobody = 10;

std::string_view shapeOf(InputKind kind)
{
    return kind == InputKind::Vectors ? "vectors" : kind == InputKind::Images ? "images" : "tokens";
}

std::string sideSetting(const RunPlan& plan)
{
    return std::holds_alternative<ScriptPlan>(plan.model) ? "model.init_args.inputs"
                                                          : "model.init_args.image_size";
}

void mismatch(PlanReader& reader, const std::string& what, const std::string& hint)
{
    reader.fail("The model does not fit the data: " + what + ".", hint);
}

/// Pictures of a data set, as the model may take them.
struct Pictures {
    std::string name;
    std::int64_t channels = 1;
    std::int64_t side = 28;
    std::int64_t classes = 10;
};

void checkPictures(PlanReader& reader, const RunPlan& plan, const Pictures& data)
{
    const auto face = modelFace(plan.model);
    const auto numbers = data.channels * data.side * data.side;
    const auto size = std::to_string(data.side) + " × " + std::to_string(data.side);
    if (face.input == InputKind::Tokens)
        mismatch(reader, data.name + " has images, and it takes tokens",
                 "Use mantissa.MLP, mantissa.ConvNet or mantissa.ResNet, or other data.");
    else if (face.input == InputKind::Vectors && face.inputs != numbers)
        mismatch(reader,
                 "images of " + size + " are " + std::to_string(numbers) + " numbers, and it takes "
                     + std::to_string(face.inputs),
                 "Set model.init_args.inputs to " + std::to_string(numbers) + ".");
    else if (face.input == InputKind::Images && face.inputs != data.side)
        mismatch(reader, "images are of " + size + ", and it takes a side of " + std::to_string(face.inputs),
                 "Set " + sideSetting(plan) + " to " + std::to_string(data.side) + ".");
    else if (face.input == InputKind::Images && face.channels != data.channels)
        mismatch(reader,
                 "images have " + std::to_string(data.channels) + " channels, and it takes "
                     + std::to_string(face.channels),
                 "Set model.init_args.channels to " + std::to_string(data.channels) + ".");
    else if (!face.takesClasses(data.classes))
        mismatch(reader,
                 "there are " + std::to_string(data.classes) + " classes, and it tells "
                     + std::to_string(face.classes) + " apart",
                 "Set model.init_args.classes to " + std::to_string(data.classes) + ".");
}

void fashionMnist(PlanReader& reader, RunPlan& plan)
{
    FashionMnistPlan data;
    data.folder = reader.word(field::dataFolder);
    data.flat = modelFace(plan.model).input == InputKind::Vectors;
    checkPictures(reader, plan, {"Fashion-MNIST", 1, 28, 10});
    plan.data = data;
}

/// Bytes as tokens: what every text has to keep to.
void checkBytes(PlanReader& reader, const RunPlan& plan, std::int64_t context)
{
    const auto face = modelFace(plan.model);
    if (face.input != InputKind::Tokens)
        mismatch(reader, "bytes are tokens, and only a transformer takes tokens",
                 "Use mantissa.Transformer, or other data.");
    else if (face.classes < 256)
        mismatch(reader, "there are 256 bytes, and it tells " + counted(face.classes, "token") + " apart",
                 "Set model.init_args.vocab to 256.");
    else if (context > face.inputs)
        mismatch(reader,
                 "rows have " + counted(context, "token") + ", and it takes at most "
                     + std::to_string(face.inputs),
                 "Leave data.init_args.context out: it follows the model.");
}

std::int64_t contextOf(PlanReader& reader, const RunPlan& plan)
{
    const auto face = modelFace(plan.model);
    return reader.integer(field::dataContext, face.input == InputKind::Tokens ? face.inputs : 128);
}

void textBytes(PlanReader& reader, RunPlan& plan)
{
    TextPlan data;
    data.file = reader.word(field::dataFile);
    data.context = contextOf(reader, plan);
    if (data.file.empty())
        reader.fail("mantissa.TextBytes does not know its file.", "Set data.init_args.file to any file.");
    checkBytes(reader, plan, data.context);
    plan.data = data;
}

void textFolder(PlanReader& reader, RunPlan& plan)
{
    TextFolderPlan data;
    data.folder = reader.word(field::dataFolder);
    data.suffix = reader.word(field::dataSuffix);
    data.context = contextOf(reader, plan);
    if (data.folder.empty())
        reader.fail("mantissa.TextFolder does not know its folder.",
                    "Set data.init_args.folder to a folder with texts.");
    checkBytes(reader, plan, data.context);
    plan.data = data;
}

void cifar(PlanReader& reader, RunPlan& plan)
{
    CifarPlan data;
    data.folder = reader.word(field::dataFolder);
    data.hundred = choose(reader, field::dataVersion, kCifarVersions);
    data.flat = modelFace(plan.model).input == InputKind::Vectors;
    if (data.folder.empty())
        reader.fail("mantissa.CIFAR does not know its folder.",
                    "Set data.init_args.folder to the folder of the binary version.");
    checkPictures(reader, plan, {data.hundred ? "CIFAR-100" : "CIFAR-10", 3, 32, data.hundred ? 100 : 10});
    plan.data = data;
}

void refuseTokens(PlanReader& reader, const RunPlan& plan, const std::string& name)
{
    if (modelFace(plan.model).input == InputKind::Tokens)
        mismatch(reader, name + " has samples with a class each, and it takes tokens",
                 "Use mantissa.MLP, or texts.");
}

void numpyArrays(PlanReader& reader, RunPlan& plan)
{
    NpyPlan data;
    data.inputs = reader.word(field::dataNpyInputs);
    data.targets = reader.word(field::dataNpyTargets);
    data.flat = modelFace(plan.model).input == InputKind::Vectors;
    if (data.inputs.empty() || data.targets.empty())
        reader.fail("mantissa.NumpyArrays needs two files: samples and their classes.",
                    "Set data.init_args.inputs_file and data.init_args.targets_file.");
    refuseTokens(reader, plan, "mantissa.NumpyArrays");
    plan.data = data;
}

void csv(PlanReader& reader, RunPlan& plan)
{
    CsvPlan data;
    data.file = reader.word(field::dataFile);
    const auto target = reader.setup().effective(field::dataTarget);
    if (target.isString())
        data.target = target.asString();
    else if (target.isInteger() && target.asInteger() >= 0)
        data.target = std::to_string(target.asInteger());
    else if (target.isSet())
        reader.cannot(field::dataTarget.path, target, "It is the name of a column, or its number from 0.");
    if (data.file.empty())
        reader.fail("mantissa.CSV does not know its file.", "Set data.init_args.file to a table.");
    if (modelFace(plan.model).input == InputKind::Images)
        mismatch(reader, "a table has rows of numbers, and it takes images", "Use mantissa.MLP.");
    refuseTokens(reader, plan, "mantissa.CSV");
    plan.data = data;
}

void synthetic(PlanReader& reader, RunPlan& plan)
{
    SyntheticPlan data;
    const auto face = modelFace(plan.model);
    const std::string taken(shapeOf(face.input));
    const auto shape = reader.word(field::dataShape);
    data.shape = shape.empty() ? taken : shape;
    data.inputs = reader.integer(field::dataInputs, face.inputs);
    data.classes = reader.integer(field::dataClasses, face.classes > 0 ? face.classes : kClassesOfNobody);
    data.samples = reader.integer(field::dataSamples);
    data.channels = face.channels;
    if (data.shape != taken)
        mismatch(reader, "the data are " + data.shape + ", and it takes " + taken,
                 "Leave data.init_args.shape out: it follows the model.");
    else if (data.inputs != face.inputs && data.shape != "tokens")
        mismatch(reader,
                 "samples have " + counted(data.inputs, "input") + ", and it takes "
                     + std::to_string(face.inputs),
                 "Leave data.init_args.inputs out: it follows the model.");
    else if (data.inputs > face.inputs || !face.takesClasses(data.classes))
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

struct DataEntry {
    std::string_view name;
    void (*read)(PlanReader&, RunPlan&);
};

constexpr std::array kDatas = {
    DataEntry{"mantissa.FashionMNIST", fashionMnist}, DataEntry{"mantissa.CIFAR", cifar},
    DataEntry{"mantissa.NumpyArrays", numpyArrays},   DataEntry{"mantissa.CSV", csv},
    DataEntry{"mantissa.TextBytes", textBytes},       DataEntry{"mantissa.TextFolder", textFolder},
    DataEntry{"mantissa.Synthetic", synthetic},       DataEntry{"mantissa.TraceBatches", trace},
};

} // namespace

void planData(PlanReader& reader, RunPlan& plan)
{
    constexpr std::string_view kHave =
        "mantissa.FashionMNIST, mantissa.CIFAR, mantissa.NumpyArrays, mantissa.CSV, mantissa.TextBytes, "
        "mantissa.TextFolder, mantissa.Synthetic and mantissa.TraceBatches";
    const auto& written = reader.setup()[field::dataClass];
    const auto name = written.asString();
    const auto* entry =
        std::find_if(kDatas.begin(), kDatas.end(), [&](const auto& data) { return data.name == name; });
    if (entry != kDatas.end())
        entry->read(reader, plan);
    else if (name.empty())
        reader.fail("The set-up names no data that this engine knows.",
                    "Set data.class_path to one of " + std::string(kHave) + ".");
    else
        reader.cannot(field::dataClass.path, written, "It has " + std::string(kHave) + ".");
    plan.batchSize = reader.integer(field::batchSize);
}

} // namespace mantissa
