#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/flow_value.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/training_classes.h"
#include "engine/rules/check.h"
#include "engine/rules/target.h"

#include <QTest>

#include <algorithm>

using namespace mantissa;

namespace {

constexpr std::string_view kGan = R"(
trainer: {precision: 16-mixed, max_steps: 10}
model:
  class_path: mantissa.GAN
  init_args: {latent_dim: 8, lr_discriminator: 0.001, lr_generator: 0.002, discriminator_steps: 3}
data: {class_path: mantissa.FashionMNIST, init_args: {batch_size: 32}}
)";

Setup ganWith(const std::string& path, Value value)
{
    auto setup = readSetup(std::string(kGan)).setup;
    (void)setup.set(path, std::move(value));
    return setup;
}

const Finding* findingOf(const CheckReport& report, std::string_view rule)
{
    const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                    [&](const Finding& finding) { return finding.rule == rule; });
    return found == report.findings.end() ? nullptr : &*found;
}

} // namespace

class TestManualPlan : public QObject {
    Q_OBJECT

private slots:
    void aGanBringsItsTwoOptimizers()
    {
        const auto plan = planRun(readSetup(std::string(kGan)).setup);

        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->ownOptimizers.size(), std::size_t{2});
        QCOMPARE(plan->ownOptimizers[0].name, std::string("discriminator"));
        QCOMPARE(plan->ownOptimizers[0].plan.learningRate, 0.001);
        QCOMPARE(plan->ownOptimizers[1].plan.learningRate, 0.002);
        QCOMPARE(plan->ownOptimizers[1].plan.beta1, 0.5);
        QCOMPARE(plan->accumulate, (std::map<std::int64_t, std::int64_t>{{0, 3}}));
        QCOMPARE(ownSeries(*plan),
                 (std::vector<std::string>{"loss_d", "grad_norm_d", "loss_g", "grad_norm_g"}));
    }

    void whatDoesNotGoWithItIsRefused_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("word");
        const auto row = [](const char* path, const char* value, const char* word) {
            QTest::addRow("%s: %s", path, value) << path << value << word;
        };
        row("optimizer.class_path", "torch.optim.AdamW", "section optimizer");
        row("lr_scheduler.class_path", "torch.optim.lr_scheduler.StepLR", "section lr_scheduler");
        row("trainer.gradient_clip_val", "1.0", "gradient_clip_val");
        row("trainer.accumulate_grad_batches", "2", "Accumulation");
        row("mantissa.facts.automatic_optimization", "true", "automatic_optimization");
        row("mantissa.facts.num_optimizers", "1", "num_optimizers");
        row("data.init_args.val_split", "0.1", "validation step");
        row("mantissa.weight_decay_on", "matrices", "optimizer of the set-up");
        row("model.init_args.betas", "0.9", "betas");
    }
    void whatDoesNotGoWithItIsRefused()
    {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QFETCH(QString, word);

        const auto plan = planRun(ganWith(path.toStdString(), readFlowValue(value.toStdString())));

        QVERIFY(!plan);
        QVERIFY2(QString::fromStdString(plan.error().message).contains(word), plan.error().message.c_str());
        QVERIFY(!plan.error().hint.empty());
    }

    void callbacksThatFollowOneOptimizerAreRefused()
    {
        const auto setup = ganWith("trainer.callbacks",
                                   ValueList{Value(ValueMap{{"class_path", Value("LearningRateMonitor")}})});
        QVERIFY(!planRun(setup));
    }

    void aMonitorMayNameAnOptimizersLoss()
    {
        const auto early = [](const char* series) {
            return ganWith(
                "trainer.callbacks",
                ValueList{Value(ValueMap{{"class_path", Value("EarlyStopping")},
                                         {"init_args", Value(ValueMap{{"monitor", Value(series)}})}})});
        };
        const auto known = planRun(early("loss_g"));
        QVERIFY2(known, known ? "" : known.error().message.c_str());
        QVERIFY(!planRun(early("loss_x")));
    }

    void otherModelsStillOptimizeAutomatically()
    {
        auto setup = ganWith("model.class_path", "mantissa.MLP");
        setup.unset("model.init_args");
        (void)setup.set("optimizer.class_path", "torch.optim.SGD");
        (void)setup.set("optimizer.init_args.lr", 0.1);
        QVERIFY(planRun(setup));
        (void)setup.set("mantissa.facts.automatic_optimization", false);
        QVERIFY(!planRun(setup));
    }

    void theModelAnswersTheFactsAndTheirFixesFollow()
    {
        const auto report = check(ganWith("trainer.gradient_clip_val", 1.0), *targetNamed("trainer-2.6.6"));

        const auto* clip = findingOf(report, "clip-manual");
        QVERIFY(clip);
        for (const auto& fix : clip->fixes)
            QVERIFY2(fix.title.find("automatically") == std::string::npos, fix.title.c_str());
        QVERIFY(!clip->fixes.empty() && !clip->fixes.front().clears.empty());
        for (const auto& assumption : report.assumed)
            QVERIFY2(assumption.path != field::automaticOptimization.path && assumption.path != "optimizer",
                     assumption.text.c_str());
        const auto implied = impliedFacts(ganWith("trainer.devices", 1));
        QCOMPARE(implied.size(), std::size_t{2});
        QCOMPARE(implied[0].value, std::string("false"));
    }

    void aFactThatContradictsTheModelIsFound()
    {
        const auto report =
            check(ganWith("mantissa.facts.automatic_optimization", true), *targetNamed("trainer-2.6.6"));
        const auto* finding = findingOf(report, "engine-cannot-run");
        QVERIFY(finding);
        QCOMPARE(finding->paths, (std::vector<std::string>{"mantissa.facts.automatic_optimization"}));
    }

    void formsOfferNoOtherOptimizer()
    {
        const auto gan = ganWith("trainer.devices", 1);
        for (const auto* field :
             {&field::optimizerClass, &field::learningRate, &field::scheduleClass, &field::parameterGroups})
            QVERIFY2(!concernsClass(gan, *field), std::string(field->path).c_str());
        QVERIFY(concernsClass(gan, field::lrGenerator));
        QVERIFY(!concernsClass(gan, field::modelHeads));
    }
};

QTEST_APPLESS_MAIN(TestManualPlan)
#include "tst_manual_plan.moc"
