#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/step_plan.h"
#include "engine/rules/check.h"
#include "engine/rules/verdict.h"

#include <QTest>

using namespace mantissa;

namespace {

/// A set-up of parts, with what is not given left at something that trains.
struct Parts {
    std::string trainer = "max_epochs: 5";
    std::string model = "{class_path: mantissa.MLP, init_args: {inputs: 8, classes: 3}}";
    std::string data = "{class_path: mantissa.Synthetic, init_args: {val_split: 0.2}}";

    Setup setup() const
    {
        return readSetup("trainer: {" + trainer + "}\nmodel: " + model + "\ndata: " + data
                         + "\noptimizer: {class_path: torch.optim.SGD, init_args: {lr: 0.1}}\n")
            .setup;
    }
    Result<RunPlan> plan() const { return planRun(setup()); }
};

Result<RunPlan> withCallback(const std::string& name, const std::string& arguments)
{
    return Parts{.trainer = "max_epochs: 5, callbacks: [{class_path: lightning.pytorch.callbacks." + name
                     + ", init_args: {" + arguments + "}}]"}
        .plan();
}

Result<RunPlan> withTrainer(const std::string& flags)
{
    return Parts{.trainer = "max_epochs: 5, " + flags}.plan();
}

bool says(const Result<RunPlan>& plan, const std::string& words)
{
    if (!plan && plan.error().message.find(words) != std::string::npos && !plan.error().hint.empty())
        return true;
    qWarning("“%s” does not say “%s”", plan ? "(runs)" : plan.error().message.c_str(), words.c_str());
    return false;
}

bool runs(const Result<RunPlan>& plan)
{
    if (!plan)
        qWarning("%s", plan.error().message.c_str());
    return static_cast<bool>(plan);
}

} // namespace

class TestPlanParts : public QObject {
    Q_OBJECT

private slots:
    void validationIsReadAsTheTrainerMeansIt()
    {
        const auto usual = Parts{}.plan();
        const auto all =
            withTrainer("val_check_interval: 0.25, check_val_every_n_epoch: 2, limit_val_batches: 0.5, "
                        "num_sanity_val_steps: -1");
        const auto counted =
            withTrainer("val_check_interval: 7, check_val_every_n_epoch: null, limit_val_batches: 3");

        QVERIFY(runs(usual) && runs(all) && runs(counted));
        QVERIFY(usual->validation.wanted());
        QCOMPARE(usual->validation.split, 0.2);
        QCOMPARE(usual->validation.sanityBatches, std::int64_t{2});
        QCOMPARE(all->validation.intervalShare, 0.25);
        QCOMPARE(all->validation.everyEpochs, std::int64_t{2});
        QCOMPARE(all->validation.limitShare, 0.5);
        QCOMPARE(all->validation.sanityBatches, std::int64_t{-1});
        QCOMPARE(counted->validation.everyBatches, std::int64_t{7});
        QCOMPARE(counted->validation.everyEpochs, std::int64_t{0});
        QCOMPARE(counted->validation.limitBatches, std::int64_t{3});
        QVERIFY(!withTrainer("limit_val_batches: 0")->validation.wanted());
    }

    void validationThatMakesNoSenseIsRefused()
    {
        QVERIFY(says(withTrainer("val_check_interval: 1.5"), "val_check_interval is 1.5"));
        QVERIFY(says(withTrainer("val_check_interval: 0"), "val_check_interval is 0"));
        QVERIFY(says(withTrainer("check_val_every_n_epoch: null"), "count across epochs"));
        QVERIFY(says(withTrainer("limit_val_batches: 1.5"), "limit_val_batches is 1.5"));
        QVERIFY(says(withTrainer("min_epochs: 9"), "more than max_epochs"));
        const auto own = Parts{.data = "{class_path: mantissa.Synthetic, init_args: {val_test: true}}"};
        QVERIFY(says(own.plan(), "no test samples"));
    }

    void aTrialIsShortEverywhere()
    {
        const auto plan = withTrainer("fast_dev_run: 3, val_check_interval: 50");

        QVERIFY(runs(plan));
        QVERIFY(plan->trial);
        QCOMPARE(plan->validation.limitBatches, std::int64_t{3});
        QCOMPARE(plan->validation.everyBatches, std::int64_t{0});
        QCOMPARE(plan->validation.sanityBatches, std::int64_t{0});
    }

    void everyCallbackIsReadWithItsArguments()
    {
        const auto stopping =
            withCallback("EarlyStopping",
                         "monitor: val_acc, mode: max, patience: 7, min_delta: 0.1, check_finite: "
                         "false, stopping_threshold: 0.9, verbose: true");
        const auto ema =
            withCallback("EMAWeightAveraging", "decay: 0.5, update_every_n_steps: 2, device: cpu");
        const auto swa = withCallback("StochasticWeightAveraging", "swa_lrs: 0.05, swa_epoch_start: 2");
        const auto timer = withCallback("Timer", "duration: \"00:01:30:05\", interval: epoch");
        const auto spikes = withCallback("SpikeDetection", "rtol: null, atol: 3.0, on_spike: skip");
        const auto histograms = withCallback("HistogramCapture", "every_n_steps: 5, weights: false");

        QVERIFY(runs(stopping) && runs(ema) && runs(swa) && runs(timer) && runs(spikes) && runs(histograms));
        const auto& early = std::get<EarlyStoppingPlan>(stopping->callbacks[0]);
        QCOMPARE(early.monitor, std::string("val_accuracy"));
        QCOMPARE(early.mode, MonitorMode::Max);
        QCOMPARE(early.patience, std::int64_t{7});
        QVERIFY(!early.checkFinite && !early.divergenceThreshold);
        QCOMPARE(*early.stoppingThreshold, 0.9);
        QCOMPARE(std::get<EmaPlan>(ema->callbacks[0]).everySteps, std::int64_t{2});
        QCOMPARE(std::get<SwaPlan>(swa->callbacks[0]).startEpoch, std::int64_t{2});
        QCOMPARE(std::get<TimerPlan>(timer->callbacks[0]).seconds, 5405.0);
        const auto& spike = std::get<SpikePlan>(spikes->callbacks[0]);
        QVERIFY(spike.skips && !spike.rtol);
        QCOMPARE(*spike.atol, 3.0);
        QVERIFY(!std::get<HistogramPlan>(histograms->callbacks[0]).weights);
        QCOMPARE(std::get<TimerPlan>(withTrainer("max_time: {minutes: 2}")->callbacks[0]).seconds, 120.0);
    }

    void checkpointsFollowTheEcosystemsWords()
    {
        const auto usual = withCallback("ModelCheckpoint", "monitor: val_acc, mode: max, save_top_k: 2");
        const auto bySteps = withCallback("ModelCheckpoint", "every_n_train_steps: 5");
        const auto rarely =
            withCallback("ModelCheckpoint", "every_n_epochs: 3, save_on_train_epoch_end: true");

        QVERIFY(runs(usual) && runs(bySteps) && runs(rarely));
        QCOMPARE(usual->checkpoints.everyEpochs, std::int64_t{1});
        QCOMPARE(usual->checkpoints.monitor, std::string("val_accuracy"));
        QCOMPARE(bySteps->checkpoints.everySteps, std::int64_t{5});
        QCOMPARE(bySteps->checkpoints.everyEpochs, std::int64_t{0});
        QCOMPARE(rarely->checkpoints.everyEpochs, std::int64_t{3});
        QCOMPARE(*rarely->checkpoints.onTrainEpochEnd, true);
        QVERIFY(says(withCallback("ModelCheckpoint", "every_n_train_steps: 5, every_n_epochs: 1"),
                     "by steps and by"));
        QVERIFY(says(withCallback("ModelCheckpoint", "monitor: val_bleu"), "val_bleu"));
        QCOMPARE(Parts{}.plan()->checkpoints.everyEpochs, std::int64_t{0});
    }

    void callbacksThatMakeNoSenseAreRefused()
    {
        QVERIFY(says(withCallback("EarlyStopping", "patience: 3"), "has to get better"));
        QVERIFY(says(withCallback("EarlyStopping", "monitor: val_bleu"), "val_bleu"));
        QVERIFY(says(withCallback("EarlyStopping", "monitor: loss, mode: auto"), "mode is auto"));
        QVERIFY(says(withCallback("EarlyStopping", "monitor: loss, lambda: 3"), "lambda is 3"));
        QVERIFY(says(withCallback("StochasticWeightAveraging", "swa_lrs: [0.1, 0.2]"), "swa_lrs"));
        QVERIFY(says(withCallback("StochasticWeightAveraging", "swa_lrs: 0.1, swa_epoch_start: 0"), "is 0"));
        QVERIFY(says(withCallback("Timer", "duration: tomorrow"), "duration is tomorrow"));
        QVERIFY(says(withCallback("ModelPruning", "amount: 0.5"), "ModelPruning"));
        auto unsplit =
            Parts{.trainer = "max_epochs: 5, callbacks: [{class_path: EarlyStopping, init_args: {monitor: "
                             "val_loss}}]",
                  .data = "{class_path: mantissa.Synthetic}"};
        QVERIFY(says(unsplit.plan(), "monitor is val_loss"));
        QVERIFY(unsplit.plan().error().hint.find("val_split") != std::string::npos);
    }

    void twoCallbacksOfOneClassAreBothRead()
    {
        const auto plan = withTrainer("callbacks: [{class_path: EarlyStopping, init_args: {monitor: loss}}, "
                                      "{class_path: EarlyStopping, init_args: {monitor: val_loss}}]");

        QVERIFY(runs(plan));
        QCOMPARE(std::get<EarlyStoppingPlan>(plan->callbacks[0]).monitor, std::string("loss"));
        QCOMPARE(std::get<EarlyStoppingPlan>(plan->callbacks[1]).monitor, std::string("val_loss"));
    }

    void everyModelAndItsDataAreRead()
    {
        const Parts resnet{.model = "{class_path: mantissa.ResNet, init_args: {width: 16, blocks: 1}}",
                           .data = "{class_path: mantissa.CIFAR, init_args: {folder: /data/cifar}}"};
        const Parts gpt{.model =
                            "{class_path: mantissa.Transformer, init_args: {positions: rotary, activation: "
                            "swiglu, norm: rms, init: gpt2, weights: w.safetensors}}",
                        .data = "{class_path: mantissa.TextFolder, init_args: {folder: texts, suffix: .md}}"};
        const Parts script{
            .model = "{class_path: mantissa.TorchScript, init_args: {file: net.pt, inputs: 5, classes: "
                     "2}}",
            .data = "{class_path: mantissa.CSV, init_args: {file: t.csv, target: 4}}"};
        const Parts arrays{
            .data = "{class_path: mantissa.NumpyArrays, init_args: {inputs_file: x.npy, targets_file: "
                    "y.npy}}"};

        QVERIFY(runs(resnet.plan()) && runs(gpt.plan()) && runs(script.plan()) && runs(arrays.plan()));
        QCOMPARE(std::get<ResNetPlan>(resnet.plan()->model).width, std::int64_t{16});
        QCOMPARE(std::get<TransformerPlan>(gpt.plan()->model).activation, ActivationKind::SwiGlu);
        QCOMPARE(gpt.plan()->weightsFile, std::string("w.safetensors"));
        QCOMPARE(std::get<TextFolderPlan>(gpt.plan()->data).suffix, std::string(".md"));
        QCOMPARE(std::get<CsvPlan>(script.plan()->data).target, std::string("4"));
        QVERIFY(std::get<NpyPlan>(arrays.plan()->data).flat);
    }

    void modelsThatDoNotFitTheirDataAreRefused()
    {
        const auto with = [](const std::string& model, const std::string& data) {
            return Parts{.model = "{class_path: mantissa." + model + "}",
                         .data = "{class_path: mantissa." + data + "}"}
                .plan();
        };
        QVERIFY(says(with("ResNet", "FashionMNIST"), "images are of 28 × 28"));
        QVERIFY(says(with("ConvNet, init_args: {image_size: 32}", "CIFAR, init_args: {folder: a}"),
                     "3 channels"));
        QVERIFY(says(with("MLP", "CIFAR, init_args: {folder: a}"), "3072 numbers"));
        QVERIFY(says(with("MLP", "CIFAR"), "does not know its folder"));
        QVERIFY(says(with("Transformer", "CSV, init_args: {file: a}"), "takes tokens"));
        QVERIFY(says(with("Transformer, init_args: {width: 12, heads: 4, positions: rotary}",
                          "TextBytes, init_args: {file: a}"),
                     "pairs of numbers"));
        QVERIFY(says(with("TorchScript", "Synthetic"), "does not know its file"));
        QVERIFY(says(with("MLP", "NumpyArrays"), "needs two files"));
    }

    void theVerdictHereFollowsThePlan()
    {
        const auto verdict = [](const Parts& parts) {
            const auto setup = parts.setup();
            return verdictHere(setup, check(setup, *targetOf(setup)).findings);
        };
        QCOMPARE(verdict(Parts{}).verdict, Verdict::Runs);
        const Parts pruning{.trainer = "max_epochs: 5, callbacks: [{class_path: ModelPruning}]"};
        QCOMPARE(verdict(pruning).verdict, Verdict::WontStart);
    }

    void theDiagramKnowsWhatTheNewModelsTake()
    {
        const auto dtypeOfData = [](const Parts& parts) {
            return makeStepPlan(parts.setup()).stages[0].dtype;
        };
        const Parts folder{.model = "{class_path: mantissa.Transformer}",
                           .data = "{class_path: mantissa.TextFolder, init_args: {folder: a}}"};
        const Parts script{.model = "{class_path: mantissa.TorchScript, init_args: {file: a, input: tokens}}",
                           .data = "{class_path: mantissa.Synthetic}"};
        QCOMPARE(dtypeOfData(folder), std::string("int64"));
        QCOMPARE(dtypeOfData(script), std::string("int64"));
        QCOMPARE(dtypeOfData(Parts{}), std::string("fp32"));
    }
};

QTEST_APPLESS_MAIN(TestPlanParts)
#include "tst_plan_parts.moc"
