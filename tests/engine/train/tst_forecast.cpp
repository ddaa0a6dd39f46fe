#include "engine/precision/precision.h"
#include "engine/recipe/memory_forecast.h"
#include "engine/recipe/model_weights.h"
#include "tests/support/real_runs.h"

#include <QtTest>

using namespace mantissa;

/// What is computed before a run against what LibTorch's side of the engine has and keeps.
class TestForecast : public QObject {
    Q_OBJECT

private slots:
    void anElementHasTheBytesOfItsDtype_data()
    {
        QTest::addColumn<int>("precision");
        QTest::addColumn<int>("strategy");
        QTest::addColumn<QString>("reduce");
        for (const auto mode : {PrecisionMode::Fp32True, PrecisionMode::Fp16True, PrecisionMode::Bf16True,
                                PrecisionMode::Fp16Mixed, PrecisionMode::Bf16Mixed, PrecisionMode::Fp64True,
                                PrecisionMode::Fp8Mixed}) {
            for (const auto strategy : {StrategyKind::Single, StrategyKind::Ddp, StrategyKind::Zero1,
                                        StrategyKind::Fsdp, StrategyKind::Fsdp2}) {
                for (const char* reduce : {"", "fp32"})
                    QTest::addRow("%s, %d, %s", std::string(precisionId(mode)).c_str(),
                                  static_cast<int>(strategy), reduce)
                        << static_cast<int>(mode) << static_cast<int>(strategy) << QString(reduce);
            }
        }
    }
    void anElementHasTheBytesOfItsDtype()
    {
        QFETCH(const int, precision);
        QFETCH(const int, strategy);
        QFETCH(const QString, reduce);
        RunPlan plan;
        plan.precision = static_cast<PrecisionMode>(precision);
        plan.strategy = static_cast<StrategyKind>(strategy);
        plan.reduceDtype = reduce.toStdString();
        const auto dtypes = precisionDtypes(plan);

        const ElementBytes bytes = elementBytes(plan);

        QCOMPARE(bytes.stored, at::elementSize(dtypes.stored));
        QCOMPARE(bytes.param, at::elementSize(dtypes.param));
        QCOMPARE(bytes.reduce, at::elementSize(dtypes.reduce));
    }

    void anOptimizersStateIsForetold_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("more");
        for (const auto kind :
             {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Adagrad,
              OptimizerKind::RmsProp, OptimizerKind::Lion, OptimizerKind::Adam8bit, OptimizerKind::AdamW8bit,
              OptimizerKind::Lion8bit, OptimizerKind::Sgd8bit}) {
            for (const bool more : {false, true})
                QTest::addRow("%d, %s", static_cast<int>(kind), more ? "with more states" : "plain")
                    << static_cast<int>(kind) << more;
        }
    }
    void anOptimizersStateIsForetold()
    {
        QFETCH(const int, kind);
        QFETCH(const bool, more);
        OptimizerPlan plan;
        plan.kind = static_cast<OptimizerKind>(kind);
        plan.impl = OptimizerImpl::ForLoop;
        plan.momentum = more || kind == static_cast<int>(OptimizerKind::Sgd8bit) ? 0.9 : 0.0;
        plan.amsgrad = more;
        plan.centered = more;
        at::Tensor weight = at::ones({100, 70}).requires_grad_();
        weight.mutable_grad() = at::ones({100, 70});
        const auto optimizer = makeOptimizer(plan, {weight});

        optimizer->step();

        QCOMPARE(optimizerStateBytes(plan, weight.numel(), sizeof(float)), optimizer->stateBytes());
    }

    void aModelHasTheWeightsOfItsPlan_data()
    {
        QTest::addColumn<int>("model");
        for (int model = 0; model < 5; ++model)
            QTest::addRow("%d", model) << model;
    }
    void aModelHasTheWeightsOfItsPlan()
    {
        QFETCH(const int, model);
        const std::array<ModelPlan, 5> plans = {
            MlpPlan{}, ConvNetPlan{.batchNorm = true}, ResNetPlan{.width = 8},
            TransformerPlan{.activation = ActivationKind::SwiGlu}, GanPlan{}};
        const auto weights = modelWeights(plans[static_cast<std::size_t>(model)]);
        QVERIFY(weights);
        const auto made = makeModel(plans[static_cast<std::size_t>(model)], 1, 0);
        QCOMPARE(made->unitCount(), weights->unitCount());
        QCOMPARE(made->parameters().size(), weights->specs().size());
        QVERIFY(forecastMemory(RunPlan{.model = plans[static_cast<std::size_t>(model)]})->parameters > 0);
    }

    void aRunMeasuresWhatWasForetold_data()
    {
        QTest::addColumn<int>("strategy");
        for (const auto strategy :
             {StrategyKind::Ddp, StrategyKind::Zero1, StrategyKind::Fsdp, StrategyKind::Fsdp2})
            QTest::addRow("%d", static_cast<int>(strategy)) << static_cast<int>(strategy);
    }
    void aRunMeasuresWhatWasForetold()
    {
        QFETCH(const int, strategy);
        RunPlan plan = smallPlan(static_cast<StrategyKind>(strategy), 2);
        plan.optimizer.kind = OptimizerKind::AdamW;
        plan.maxSteps = 2;
        const auto foretold = forecastMemory(plan);
        QVERIFY(foretold);
        std::uint64_t gradients = 0;
        std::uint64_t parameters = 0;
        trainBare(plan, [&](Trainer& trainer, const StepReport& report, int rank) {
            if (rank != 0 || report.step != 1)
                return;
            parameters = trainer.strategy().memory().parameters;
            gradients = trainer.strategy().memory().gradients;
        });
        QCOMPARE(parameters, foretold->parameters);
        QCOMPARE(gradients, foretold->gradients);
    }
};

QTEST_APPLESS_MAIN(TestForecast)
#include "tst_forecast.moc"
