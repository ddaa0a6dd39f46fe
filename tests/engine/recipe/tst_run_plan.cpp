#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"

#include <QTest>

using namespace mantissa;

namespace {

const std::string kBase = "trainer: {max_steps: 10}\n"
                          "model: {class_path: mantissa.MLP}\n"
                          "data: {class_path: mantissa.FashionMNIST}\n"
                          "optimizer: {class_path: torch.optim.AdamW}\n";

Setup baseSetup()
{
    return readSetup(kBase).setup;
}

Result<RunPlan> planWith(const std::string& path, const Value& value)
{
    auto setup = baseSetup();
    if (auto done = setup.set(path, value); !done)
        return done.error();
    return planRun(setup);
}

} // namespace

class TestRunPlan : public QObject {
    Q_OBJECT

private slots:
    void fillsInTheDefaultsOfTheEcosystem()
    {
        const auto plan = planRun(baseSetup());

        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->precision, PrecisionMode::Fp32True);
        QCOMPARE(plan->strategy, StrategyKind::Single);
        QCOMPARE(plan->optimizer.weightDecay, 0.01);
        QCOMPARE(plan->optimizer.impl, OptimizerImpl::ForLoop);
        QCOMPARE(plan->maxSteps, std::int64_t{10});
        QCOMPARE(plan->batchSize, std::int64_t{64});
        QVERIFY(!plan->scaler.enabled);
        QVERIFY(std::get<FashionMnistPlan>(plan->data).flat);
        QCOMPARE(plan->accumulate, (std::map<std::int64_t, std::int64_t>{{0, 1}}));
    }

    void readsAWholeSetup()
    {
        const auto file = readSetup(
            "seed_everything: 7\n"
            "trainer:\n"
            "  precision: 16\n"
            "  devices: 2\n"
            "  strategy:\n"
            "    class_path: lightning.pytorch.strategies.FSDPStrategy\n"
            "    init_args:\n"
            "      mixed_precision:\n"
            "        class_path: torch.distributed.fsdp.MixedPrecision\n"
            "        init_args: {reduce_dtype: torch.float32}\n"
            "  max_epochs: 3\n"
            "  limit_train_batches: 5\n"
            "  gradient_clip_val: 0.5\n"
            "  gradient_clip_algorithm: value\n"
            "  callbacks:\n"
            "  - class_path: lightning.pytorch.callbacks.GradientAccumulationScheduler\n"
            "    init_args: {scheduling: {0: 2, 1: 4}}\n"
            "model: {class_path: mantissa.Transformer, init_args: {width: 32, heads: 2, attention: "
            "explicit}}\n"
            "data: {class_path: mantissa.TextBytes, init_args: {file: a.txt, batch_size: 8}}\n"
            "optimizer: {class_path: torch.optim.SGD, init_args: {lr: 0.1, momentum: 0.9, fused: true}}\n"
            "lr_scheduler: {class_path: mantissa.WarmupCosine, init_args: {warmup: 5, total: 50}}\n"
            "mantissa:\n"
            "  mode: extended\n"
            "  scaler: {init_scale: 1024, growth_interval: 10}\n"
            "  inject: [{step: 3, rank: 1, kind: factor, value: 1e4}]\n");
        QVERIFY2(file.problems.empty(), file.problems.empty() ? "" : file.problems[0].message.c_str());

        const auto plan = planRun(file.setup);

        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->precision, PrecisionMode::Fp16Mixed);
        QCOMPARE(plan->strategy, StrategyKind::Fsdp);
        QCOMPARE(plan->ranks, 2);
        QCOMPARE(plan->reduceDtype, std::string("fp32"));
        QCOMPARE(plan->paramDtype, std::string());
        QCOMPARE(plan->seed, std::uint64_t{7});
        QCOMPARE(plan->maxEpochs, std::int64_t{3});
        QCOMPARE(plan->limitBatches, std::int64_t{5});
        QCOMPARE(plan->clip.kind, ClipKind::Value);
        QCOMPARE(plan->accumulate, (std::map<std::int64_t, std::int64_t>{{0, 2}, {1, 4}}));
        QVERIFY(plan->optimizer.selfUnscaling());
        QCOMPARE(plan->schedule.interval, ScheduleInterval::Step);
        QCOMPARE(plan->schedule.total, std::int64_t{50});
        QCOMPARE(plan->scaler.initScale, 1024.0);
        QCOMPARE(plan->scaler.growthInterval, std::int64_t{10});
        QVERIFY(plan->scaler.enabled);
        QCOMPARE(plan->mode, RunMode::Extended);
        QCOMPARE(plan->faults.size(), std::size_t{1});
        QCOMPARE(plan->faults[0].kind, FaultKind::Factor);
        const auto& model = std::get<TransformerPlan>(plan->model);
        QVERIFY(model.explicitAttention);
        QCOMPARE(std::get<TextPlan>(plan->data).context, model.context);
    }

    void readsHowTheRanksShareTheWork_data()
    {
        QTest::addColumn<QString>("strategy");
        QTest::addColumn<QString>("own");
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("sharding");
        QTest::addColumn<int>("replicas");
        const auto row = [](const char* strategy, const char* own, StrategyKind kind, Sharding sharding,
                            int replicas) {
            QTest::addRow("%s %s", strategy, own)
                << strategy << own << static_cast<int>(kind) << static_cast<int>(sharding) << replicas;
        };
        row("zero1", "", StrategyKind::Zero1, Sharding::Full, 1);
        row("fsdp", "", StrategyKind::Fsdp, Sharding::Full, 1);
        row("fsdp2", "", StrategyKind::Fsdp2, Sharding::Full, 1);
        row("{class_path: FSDPStrategy, init_args: {sharding_strategy: SHARD_GRAD_OP}}", "",
            StrategyKind::Fsdp, Sharding::GradOp, 1);
        row("{class_path: FSDPStrategy, init_args: {sharding_strategy: NO_SHARD}}", "", StrategyKind::Fsdp,
            Sharding::None, 1);
        row("{class_path: FSDPStrategy, init_args: {sharding_strategy: HYBRID_SHARD, device_mesh: [2, 2]}}",
            "", StrategyKind::Fsdp, Sharding::Hybrid, 2);
        row("{class_path: ModelParallelStrategy, init_args: {tensor_parallel_size: 1}}", "",
            StrategyKind::Fsdp2, Sharding::Full, 1);
        row("{class_path: ModelParallelStrategy, init_args: {tensor_parallel_size: 1}}",
            "sharding: {reshard_after_forward: false}", StrategyKind::Fsdp2, Sharding::GradOp, 1);
        row("{class_path: ModelParallelStrategy, init_args: {tensor_parallel_size: 1}}",
            "sharding: {mesh: [2, 2]}", StrategyKind::Fsdp2, Sharding::Hybrid, 2);
    }
    void readsHowTheRanksShareTheWork()
    {
        QFETCH(QString, strategy);
        QFETCH(QString, own);
        QFETCH(int, kind);
        QFETCH(int, sharding);
        QFETCH(int, replicas);
        const auto text = "trainer: {max_epochs: 1, strategy: " + strategy + "}\n"
            + "model: {class_path: mantissa.MLP}\ndata: {class_path: mantissa.FashionMNIST}\n"
            + "optimizer: {class_path: torch.optim.SGD, init_args: {lr: 0.1}}\nmantissa: {ranks: 4, " + own
            + "}\n";
        const auto plan = planRun(readSetup(text.toStdString()).setup);

        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(static_cast<int>(plan->strategy), kind);
        QCOMPARE(static_cast<int>(plan->shards.sharding), sharding);
        QCOMPARE(plan->shards.replicas, replicas);
    }

    void aGridThatDoesNotFitTheRanksIsRefused()
    {
        for (const char* arguments :
             {"sharding_strategy: HYBRID_SHARD", "sharding_strategy: HYBRID_SHARD, device_mesh: [3, 2]",
              "sharding_strategy: HYBRID_SHARD, device_mesh: 4", "device_mesh: [2, 2]",
              "sharding_strategy: HYBRID_SHARD, device_mesh: [-2, -2]"}) {
            auto setup = baseSetup();
            QVERIFY(setup.set("mantissa.ranks", 4));
            const auto strategy =
                readSetup("s: {class_path: FSDPStrategy, init_args: {" + std::string(arguments) + "}}\n");
            QVERIFY(setup.set("trainer.strategy", strategy.setup.at("s")));

            const auto plan = planRun(setup);

            QVERIFY2(!plan, arguments);
            QVERIFY2(plan.error().message.find("device_mesh") != std::string::npos,
                     plan.error().message.c_str());
        }
    }

    void readsWhatDdpIsToldAndWhatStaysFrozen()
    {
        auto setup = baseSetup();
        const auto strategy = readSetup(
            "s: {class_path: DDPStrategy, init_args: {bucket_cap_mb: 2.5, find_unused_parameters: true, "
            "static_graph: true, gradient_as_bucket_view: false, broadcast_buffers: false}}\n"
            "frozen: [fc1., fc2.bias]\n");
        QVERIFY(setup.set("mantissa.ranks", 2));
        QVERIFY(setup.set("trainer.strategy", strategy.setup.at("s")));
        QVERIFY(setup.set("mantissa.frozen", strategy.setup.at("frozen")));
        QVERIFY(setup.set("mantissa.activation_checkpointing", true));

        const auto plan = planRun(setup);

        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->ddp.bucketMiB, 2.5);
        QVERIFY(plan->ddp.findUnused && plan->ddp.staticGraph);
        QVERIFY(!plan->ddp.gradientViews && !plan->ddp.broadcastBuffers);
        QCOMPARE(plan->frozen, (std::vector<std::string>{"fc1.", "fc2.bias"}));
        QVERIFY(plan->recompute);
        QVERIFY(planRun(baseSetup())->ddp.gradientViews && planRun(baseSetup())->ddp.broadcastBuffers);
    }

    void underFabricTheClippingIsFabrics()
    {
        auto setup = baseSetup();
        QVERIFY(setup.set("mantissa.target", "fabric-2.6.6"));
        QVERIFY(setup.set("mantissa.fabric.max_norm", 0.25));
        QVERIFY(setup.set("trainer.gradient_clip_val", 1.0));

        const auto fabric = planRun(setup);
        QVERIFY(setup.set("mantissa.target", "trainer-2.6.6"));
        const auto trainer = planRun(setup);

        QCOMPARE(fabric->clip.value, 0.25);
        QCOMPARE(fabric->framework, std::string("fabric"));
        QCOMPARE(trainer->clip.value, 1.0);
    }

    void saysWhatItCannotRunAndWhatItCan_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("message");
        QTest::addColumn<QString>("hint");
        const auto row = [](const char* path, const char* value, const char* message, const char* hint) {
            QTest::addRow("%s %s", path, value) << QString::fromUtf8(path) << QString::fromUtf8(value)
                                                << QString::fromUtf8(message) << QString::fromUtf8(hint);
        };
        row("trainer.precision", "transformer-engine", "transformer-engine", "64-true");
        row("trainer.strategy", "deepspeed_stage_2", "deepspeed_stage_2",
            "single_device, ddp, zero1, fsdp and fsdp2");
        row("trainer.strategy.class_path", "lightning.pytorch.strategies.ModelParallelStrategy",
            "tensor_parallel_size is auto", "set tensor_parallel_size to 1");
        row("trainer.strategy.class_path", "lightning.pytorch.strategies.XLAStrategy", "XLAStrategy",
            "zero1");
        row("mantissa.sharding.wrap", "layers", "wrap is layers", "block, size or whole");
        row("mantissa.communicator", "pigeon", "communicator is pigeon", "threads or nccl");
        row("trainer.callbacks[EarlyStopping].monitor", "val_loss", "EarlyStopping", "val_split");
        row("trainer.limit_train_batches", "1.5", "1.5", "a share up to 1.0");
        row("trainer.max_steps", "-1.5", "-1.5", "whole number");
        row("trainer.accumulate_grad_batches", "0", "out of its range", "at least 1");
        row("trainer.gradient_clip_algorithm", "l2", "l2", "norm or by value");
        row("model.class_path", "glacier.Net", "glacier.Net", "mantissa.MLP");
        row("model.init_args.inputs", "100", "784 numbers", "784");
        row("model.init_args.hidden", "0", "out of its range", "at least 1");
        row("model.init_args.hidden", "many", "should be a whole number", "256");
        row("data.class_path", "glacier.Data", "glacier.Data", "mantissa.Synthetic");
        row("data.class_path", "mantissa.TextBytes", "file", "data.init_args.file");
        row("optimizer.class_path", "torch.optim.Adadelta", "Adadelta", "torch.optim.AdamW");
        row("optimizer.class_path", "bitsandbytes.optim.AdamW", "bitsandbytes", "torch.optim.AdamW");
        row("optimizer.init_args.betas", "[0.9]", "betas", "two numbers");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.CyclicLR", "CyclicLR", "WarmupCosine");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.OneCycleLR", "max_lr", "max_lr");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.MultiStepLR", "milestones", "[30, 80]");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.ExponentialLR", "gamma", "gamma");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.CosineAnnealingLR", "T_max", "T_max");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.ReduceLROnPlateau", "watches", "train_loss");
        row("optimizer.init_args.momentum", "0.9", "AdamW has no argument momentum", "betas");
        row("optimizer.init_args.capturable", "true", "capturable", "Remove");
        row("optimizer.class_path", "bitsandbytes.optim.SGD8bit", "no momentum", "torch.optim.SGD");
        row("mantissa.parameter_groups", "[{params: a, speed: 3}]", "speed", "weight_decay");
        row("mantissa.parameter_groups", "[{lr: 3}]", "lr: 3", "pattern");
        row("mantissa.weight_decay_on", "biases", "biases", "matrices");
        row("mantissa.quantizer", "coarse", "coarse", "bnb-cpu");
        row("mantissa.scaler.set_at", "{-1: 8}", "-1: 8", "from 0");
        row("mantissa.scaler.set_at", "{3: 0}", "3: 0", "above 0");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.StepLR", "step_size", "step_size");
        row("mantissa.facts.automatic_optimization", "false", "manually", "true");
        row("mantissa.ranks", "65", "out of its range", "64");
        row("mantissa.inject", "[{step: 1, kind: explode}]", "explode", "spike");
        row("mantissa.inject", "[{step: 1, rank: 3}]", "rank 3", "1 rank");
        row("mantissa.inject", "[{step: 1, rank: 4294967296}]", "rank 4294967296", "1 rank");
        row("mantissa.inject", "[{step: first}]", "step: first", "whole numbers");
        row("mantissa.inject", "[{step: 1, after: backward}]", "after: backward", "after_backward");
        row("mantissa.inject", "[{step: 1, kind: stall, value: 1e300}]", "1.0e+300 seconds", "86400");
        row("mantissa.mode", "fast", "cannot run", "faithful");
    }

    void saysWhatItCannotRunAndWhatItCan()
    {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QFETCH(QString, message);
        QFETCH(QString, hint);
        const auto read = readSetup("v: " + value.toStdString() + "\n").setup.at("v");

        const auto plan = planWith(path.toStdString(), read);

        QVERIFY(!plan);
        const bool ofWrongKind = plan.error().message.find("should be a whole number.") != std::string::npos
            || plan.error().message.find("should be true or false.") != std::string::npos
            || plan.error().message.find("out of its range.") != std::string::npos;
        if (ofWrongKind)
            QCOMPARE(plan.error().code, ErrorCode::InvalidSetup);
        if (plan.error().message.find("cannot run.") != std::string::npos)
            QCOMPARE(plan.error().code, ErrorCode::NotHere);
        QVERIFY2(QString::fromStdString(plan.error().message).contains(message),
                 plan.error().message.c_str());
        QVERIFY2(QString::fromStdString(plan.error().hint).contains(hint), plan.error().hint.c_str());
    }

    void everyClassHasItsOwnDefaults_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("rate");
        QTest::addColumn<double>("decay");
        QTest::addColumn<double>("beta2");
        const auto row = [](const char* path, OptimizerKind kind, double rate, double decay, double beta2) {
            QTest::newRow(path) << QString(path) << int(kind) << rate << decay << beta2;
        };
        row("torch.optim.SGD", OptimizerKind::Sgd, 1e-3, 0.0, 0.999);
        row("torch.optim.adamw.AdamW", OptimizerKind::AdamW, 1e-3, 0.01, 0.999);
        row("Adam", OptimizerKind::Adam, 1e-3, 0.0, 0.999);
        row("torch.optim.Adagrad", OptimizerKind::Adagrad, 1e-2, 0.0, 0.999);
        row("torch.optim.RMSprop", OptimizerKind::RmsProp, 1e-2, 0.0, 0.999);
        row("torch.optim.LBFGS", OptimizerKind::Lbfgs, 1.0, 0.0, 0.999);
        row("lion_pytorch.Lion", OptimizerKind::Lion, 1e-4, 0.0, 0.99);
        row("bitsandbytes.optim.Lion8bit", OptimizerKind::Lion8bit, 1e-4, 0.0, 0.99);
        row("bitsandbytes.optim.AdamW8bit", OptimizerKind::AdamW8bit, 1e-3, 0.01, 0.999);
        row("bitsandbytes.optim.Adam8bit", OptimizerKind::Adam8bit, 1e-3, 0.0, 0.999);
    }

    void everyClassHasItsOwnDefaults()
    {
        QFETCH(QString, path);
        QFETCH(int, kind);
        QFETCH(double, rate);
        QFETCH(double, decay);
        QFETCH(double, beta2);

        const auto plan = planWith("optimizer.class_path", path.toStdString());

        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(int(plan->optimizer.kind), kind);
        QCOMPARE(plan->optimizer.learningRate, rate);
        QCOMPARE(plan->optimizer.weightDecay, decay);
        QCOMPARE(plan->optimizer.beta2, beta2);
    }

    void schedulesAreReadByTheirTorchNames()
    {
        const auto scheduled = [](const std::string& text) {
            return planRun(readSetup(kBase + "lr_scheduler:\n  class_path: " + text).setup);
        };

        auto plan = scheduled("torch.optim.lr_scheduler.OneCycleLR\n  init_args: {max_lr: 0.1, epochs: 4, "
                              "steps_per_epoch: 25, anneal_strategy: linear, last_epoch: -1}\n"
                              "mantissa: {facts: {lr_scheduler: {interval: step}}}\n");
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->schedule.oneCycle.totalSteps, std::int64_t{100});
        QVERIFY(plan->schedule.oneCycle.linear && plan->schedule.oneCycle.cycleMomentum);
        QCOMPARE(plan->schedule.interval, ScheduleInterval::Step);

        plan =
            scheduled("lightning.pytorch.cli.ReduceLROnPlateau\n"
                      "  init_args: {monitor: train_loss, patience: 3, threshold_mode: abs, min_lr: 0.01}\n");
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->schedule.kind, ScheduleKind::Plateau);
        QCOMPARE(plan->schedule.plateau.patience, std::int64_t{3});
        QVERIFY(plan->schedule.plateau.absolute);
        QCOMPARE(plan->schedule.interval, ScheduleInterval::Epoch);

        plan = scheduled(
            "torch.optim.lr_scheduler.MultiStepLR\n  init_args: {milestones: [8, 3], gamma: 0.5}\n");
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->schedule.milestones, (std::vector<std::int64_t>{3, 8}));
    }

    void lbfgsAndALossScaleDoNotGoTogether()
    {
        auto setup = baseSetup();
        QVERIFY(setup.set("optimizer.class_path", "torch.optim.LBFGS"));
        QVERIFY(planRun(setup));
        QVERIFY(setup.set("trainer.precision", "16-mixed"));

        const auto refused = planRun(setup);
        QVERIFY(!refused && refused.error().message.find("LBFGS") != std::string::npos);

        QVERIFY(setup.set("mantissa.scaler.enabled", false));
        const auto unscaled = planRun(setup);
        QVERIFY2(unscaled, unscaled ? "" : unscaled.error().message.c_str());
        QVERIFY(!unscaled->scaler.enabled);
    }

    void aRunWithoutAnEndIsRefused()
    {
        auto setup = baseSetup();
        QVERIFY(setup.set("trainer.max_steps", -1));
        QVERIFY(setup.set("trainer.max_epochs", -1));

        QVERIFY(!planRun(setup));
        QVERIFY(!planRun(Setup()));
    }
};

QTEST_APPLESS_MAIN(TestRunPlan)
#include "tst_run_plan.moc"
