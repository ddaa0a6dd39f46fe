#include "engine/checkpoint/safetensors.h"
#include "engine/model/gpt2_names.h"
#include "engine/train/initial_weights.h"
#include "engine/train/trainer.h"
#include "tests/engine/model/script_file.h"
#include "tests/engine/model/whole_weights.h"
#include "tests/support/real_runs.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>

using namespace mantissa;

namespace {

TransformerPlan tinyGpt2()
{
    TransformerPlan plan;
    plan.vocab = 13;
    plan.context = 6;
    plan.width = 8;
    plan.heads = 2;
    plan.layers = 2;
    plan.activation = ActivationKind::GeluTanh;
    plan.tiedHead = true;
    return plan;
}

/// A file as the public one is: Conv1D weights have their inputs first, masks lie among the weights.
NamedTensors gpt2File(const TransformerPlan& plan, const std::string& prefix, std::int64_t context)
{
    auto generator = at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{3});
    NamedTensors file;
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
        file.emplace_back(prefix + name, at::randn(shape, generator).mul_(0.3));
    };
    const auto d = plan.width;
    add("wte.weight", {plan.vocab, d});
    add("wpe.weight", {context, d});
    for (std::int64_t block = 0; block < plan.layers; ++block) {
        const std::string h = "h." + std::to_string(block) + ".";
        file.emplace_back(prefix + h + "attn.bias", at::ones({1, 1, context, context}).tril());
        for (const auto* norm : {"ln_1", "ln_2"}) {
            add(h + norm + ".weight", {d});
            add(h + norm + ".bias", {d});
        }
        add(h + "attn.c_attn.weight", {d, 3 * d});
        add(h + "attn.c_attn.bias", {3 * d});
        add(h + "attn.c_proj.weight", {d, d});
        add(h + "attn.c_proj.bias", {d});
        add(h + "mlp.c_fc.weight", {d, 4 * d});
        add(h + "mlp.c_fc.bias", {4 * d});
        add(h + "mlp.c_proj.weight", {4 * d, d});
        add(h + "mlp.c_proj.bias", {d});
    }
    add("ln_f.weight", {d});
    add("ln_f.bias", {d});
    return file;
}

/// GPT-2's forward pass, written down from its own description: x @ W + b everywhere.
at::Tensor gpt2Forward(const NamedTensors& file, const TransformerPlan& plan, const at::Tensor& tokens)
{
    const auto w = [&](const std::string& name) { return tensorNamed(file, name); };
    const auto conv1d = [&](const at::Tensor& x, const std::string& name) {
        return at::matmul(x, w(name + ".weight")) + w(name + ".bias");
    };
    const auto norm = [&](const at::Tensor& x, const std::string& name) {
        return at::layer_norm(x, {plan.width}, w(name + ".weight"), w(name + ".bias"), 1e-5);
    };
    const std::int64_t length = tokens.size(1);
    at::Tensor x = w("wte.weight").index({tokens}) + w("wpe.weight").narrow(0, 0, length);
    for (std::int64_t block = 0; block < plan.layers; ++block) {
        const std::string h = "h." + std::to_string(block) + ".";
        const auto qkv = conv1d(norm(x, h + "ln_1"), h + "attn.c_attn").chunk(3, -1);
        std::vector<at::Tensor> heads;
        const std::int64_t size = plan.width / plan.heads;
        for (std::int64_t head = 0; head < plan.heads; ++head) {
            const auto cut = [&](const at::Tensor& part) { return part.narrow(-1, head * size, size); };
            const at::Tensor scores =
                at::matmul(cut(qkv[0]), cut(qkv[1]).transpose(-2, -1)) / std::sqrt(static_cast<double>(size));
            const at::Tensor mask = at::ones({length, length}).triu(1).to(at::kBool);
            heads.push_back(at::matmul(at::softmax(scores.masked_fill(mask, -1e9), -1), cut(qkv[2])));
        }
        x = x + conv1d(at::cat(heads, -1), h + "attn.c_proj");
        x = x + conv1d(at::gelu(conv1d(norm(x, h + "ln_2"), h + "mlp.c_fc"), "tanh"), h + "mlp.c_proj");
    }
    return at::matmul(norm(x, "ln_f"), w("wte.weight").t()).reshape({-1, plan.vocab});
}

RunPlan scriptPlan(const std::string& file, StrategyKind strategy, int ranks)
{
    RunPlan plan = smallPlan(strategy, ranks);
    plan.model = ScriptPlan{file, InputKind::Vectors, 64, 10};
    plan.maxSteps = 5;
    return plan;
}

std::vector<double> losses(const RunPlan& plan)
{
    std::vector<double> values;
    trainBare(plan, [&](Trainer&, const StepReport& report, int rank) {
        if (rank == 0)
            values.push_back(report.loss);
    });
    return values;
}

} // namespace

class TestWeightFiles : public QObject {
    Q_OBJECT

private slots:
    void publicGpt2WeightsGiveGpt2sOwnLogits_data()
    {
        QTest::addColumn<QString>("prefix");
        QTest::addColumn<int>("context");
        QTest::newRow("bare") << "" << 6;
        QTest::newRow("with transformer.") << "transformer." << 6;
        QTest::newRow("made for longer rows") << "" << 20;
    }
    void publicGpt2WeightsGiveGpt2sOwnLogits()
    {
        QFETCH(QString, prefix);
        QFETCH(int, context);
        const at::NoGradGuard noGrad;
        RunPlan plan;
        plan.model = tinyGpt2();
        plan.weightsFile = path("gpt2.safetensors");
        const auto file = gpt2File(tinyGpt2(), prefix.toStdString(), context);
        QVERIFY(writeSafetensors(plan.weightsFile, file));
        const at::Tensor tokens = at::arange(12).remainder(13).view({2, 6});

        const auto initial = makeInitialTensors(plan);

        QVERIFY2(initial, initial ? "" : initial.error().message.c_str());
        const auto model = makeModel(plan.model, 1, 0);
        WholeWeights weights(*model, initial->weights);
        const at::Tensor ours = model->forward(tokens, weights, false);
        const at::Tensor theirs = gpt2Forward(gpt2File(tinyGpt2(), "", context), tinyGpt2(), tokens);
        QVERIFY(at::allclose(ours, theirs, 1e-4, 1e-5));
    }

    void withoutAHeadOfItsOwnTheEmbeddingIsTheHead()
    {
        RunPlan plan;
        auto model = tinyGpt2();
        model.tiedHead = false;
        plan.model = model;
        plan.weightsFile = path("gpt2.safetensors");
        const auto file = gpt2File(model, "", 6);
        QVERIFY(writeSafetensors(plan.weightsFile, file));

        const auto initial = makeInitialTensors(plan);

        QVERIFY2(initial, initial ? "" : initial.error().message.c_str());
        QVERIFY(at::equal(initial->weights.back(), tensorNamed(file, "wte.weight")));
    }

    void aModelOfAnotherShapeIsNamed()
    {
        RunPlan plan;
        auto model = tinyGpt2();
        plan.weightsFile = path("gpt2.safetensors");
        QVERIFY(writeSafetensors(plan.weightsFile, gpt2File(model, "", 6)));
        model.layers = 3;
        plan.model = model;
        const auto deeper = makeInitialTensors(plan);
        plan.weightsFile = path("none.safetensors");
        const auto missing = makeInitialTensors(plan);

        QVERIFY(!deeper);
        QVERIFY(deeper.error().message.find("lacks 'blocks.2.ln1.weight'") != std::string::npos);
        QVERIFY(deeper.error().hint.find("768") != std::string::npos);
        QVERIFY(!missing);
    }

    void ourOwnNamesAreReadForEveryModel()
    {
        RunPlan plan;
        plan.model = MlpPlan{4, 3, 2, 2};
        NamedTensors file;
        const auto model = makeModel(plan.model, 1, 0);
        for (const auto& spec : model->parameters())
            file.emplace_back(spec.name, at::ones(spec.shape, at::kHalf));
        plan.weightsFile = path("mlp.safetensors");
        QVERIFY(writeSafetensors(plan.weightsFile, file));

        const auto initial = makeInitialTensors(plan);

        QVERIFY2(initial, initial ? "" : initial.error().message.c_str());
        QVERIFY(at::equal(initial->weights[0], at::ones({3, 4})));
    }

    void aScriptTrainsLikeTheSameLayersByHand()
    {
        const auto file = makeScriptFile(path("net.pt"));
        const ScriptPlan plan{file, InputKind::Vectors, 64, 10};
        const auto model = makeModel(plan, 1, 0);
        const auto initial = initialWeights(plan, 1);
        const at::Tensor x = at::randn({5, 64});
        const at::Tensor target = at::arange(5);

        WholeWeights weights(*model, initial, true);
        at::cross_entropy_loss(model->forward(x, weights, true), target).backward();
        WholeWeights byHand(*model, initial, true);
        const auto& w = byHand.all();
        at::cross_entropy_loss(at::linear(at::relu(at::linear(x, w[0], w[1])), w[2]), target).backward();

        QCOMPARE(model->parameters().size(), std::size_t{3});
        for (std::size_t i = 0; i < 3; ++i)
            QVERIFY(at::allclose(weights.all()[i].grad(), w[i].grad(), 1e-5, 1e-7));
    }

    void aScriptGivesTheSameLossesOnEveryStrategy()
    {
        const auto file = makeScriptFile(path("net.pt"));
        const auto single = losses(scriptPlan(file, StrategyKind::Single, 1));
        const auto ddp = losses(scriptPlan(file, StrategyKind::Ddp, 2));
        const auto fsdp = losses(scriptPlan(file, StrategyKind::Fsdp, 2));

        QCOMPARE(single.size(), std::size_t{5});
        QVERIFY(single.back() < single.front());
        for (std::size_t i = 0; i < 5; ++i) {
            QVERIFY(std::abs(ddp[i] - single[i]) < 1e-5);
            QVERIFY(std::abs(fsdp[i] - single[i]) < 1e-5);
        }
    }

    void aScriptTrainsInEveryPrecision_data()
    {
        QTest::addColumn<int>("precision");
        QTest::addColumn<int>("strategy");
        for (const auto mode : {PrecisionMode::Fp32True, PrecisionMode::Fp16True, PrecisionMode::Bf16True,
                                PrecisionMode::Fp16Mixed, PrecisionMode::Bf16Mixed}) {
            for (const auto strategy : {StrategyKind::Ddp, StrategyKind::Fsdp})
                QTest::addRow("%s %d", precisionId(mode).data(), int(strategy)) << int(mode) << int(strategy);
        }
    }
    void aScriptTrainsInEveryPrecision()
    {
        QFETCH(int, precision);
        QFETCH(int, strategy);
        RunPlan plan = scriptPlan(makeScriptFile(path("net.pt")), static_cast<StrategyKind>(strategy), 2);
        plan.precision = static_cast<PrecisionMode>(precision);
        plan.scaler.enabled = plan.precision == PrecisionMode::Fp16Mixed;
        plan.scaler.initScale = 1024.0;

        const auto values = losses(plan);

        QVERIFY(values.back() < values.front());
    }

    void dropoutInAScriptIsTheRanksOwn()
    {
        const auto file = makeScriptFile(path("dropping.pt"), true);
        RunPlan plan = scriptPlan(file, StrategyKind::Ddp, 2);

        const auto first = losses(plan);
        const auto again = losses(plan);
        plan.seed = 12;
        plan.data = SyntheticPlan{"vectors", 64, 10, 640};
        const auto model = makeModel(plan.model, 1, 0);

        QCOMPARE(first, again);
        QVERIFY(model->generatorState().defined());
        const at::NoGradGuard noGrad;
        WholeWeights weights(*model, initialWeights(plan.model, 1));
        const at::Tensor x = at::ones({1, 64});
        QVERIFY(!at::equal(model->forward(x, weights, true), model->forward(x, weights, true)));
        QVERIFY(at::equal(model->forward(x, weights, false), model->forward(x, weights, false)));
    }

    void whatIsNoScriptIsRefusedByName()
    {
        std::ofstream(path("text.pt")) << "hello";

        const auto prepared = prepareRun(scriptPlan(path("text.pt"), StrategyKind::Single, 1));
        const auto missing = prepareRun(scriptPlan(path("none.pt"), StrategyKind::Single, 1));

        QVERIFY(!prepared && !missing);
        QVERIFY(prepared.error().message.find("text.pt is no TorchScript file") != std::string::npos);
        QVERIFY(missing.error().message.find("none.pt") != std::string::npos);
    }

private:
    std::string path(const char* name) const { return (m_folder.path() + "/" + name).toStdString(); }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestWeightFiles)
#include "tst_weight_files.moc"
