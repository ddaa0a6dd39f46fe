#include "engine/train/shadow.h"
#include "tests/support/real_runs.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>

using namespace mantissa;

namespace {

const ShadowRow* rowOf(const ShadowReport& report, std::string_view layer, std::string_view quantity)
{
    for (const auto& row : report.rows)
        if (row.layer == layer && row.quantity == quantity)
            return &row;
    return nullptr;
}

/// One linear layer on four inputs that are all 2^-20, which fp16 holds: the gradients of its weights are
/// inputs times a small number, and far below fp16's smallest subnormal.
RunPlan tinyInputs(const QString& file)
{
    std::ofstream table(file.toStdString());
    table << "a,b,c,d,class\n";
    for (int row = 0; row < 16; ++row)
        table << "9.5367431640625e-07,9.5367431640625e-07,9.5367431640625e-07,9.5367431640625e-07," << row % 2
              << '\n';
    RunPlan plan;
    plan.precision = PrecisionMode::Fp16Mixed;
    plan.model = MlpPlan{4, 4, 2, 1};
    plan.data = CsvPlan{file.toStdString(), "class"};
    plan.batchSize = 8;
    plan.maxEpochs = 1;
    plan.optimizer = {OptimizerKind::Sgd, OptimizerImpl::ForLoop, 0.1};
    return plan;
}

ShadowReport shadowOf(const RunPlan& plan, std::int64_t batches = 1)
{
    const auto report = shadowStep({plan, {}, batches});
    if (!report)
        qFatal("%s", report.error().message.c_str());
    return *report;
}

} // namespace

class TestShadow : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

private slots:
    void fp32BesideItselfDiffersInNothing()
    {
        const auto report = shadowOf(smallPlan(StrategyKind::Single, 1), 2);

        QStringList order;
        for (const auto& row : report.rows) {
            order << QString::fromStdString(row.layer + " " + row.quantity);
            QCOMPARE(row.relativeError, 0.0);
            QCOMPARE(row.flushed + row.saturated + row.stalled.value_or(0.0), 0.0);
            QCOMPARE(row.dtype, std::string("fp32"));
        }
        QStringList wanted;
        for (const char* layer : {"fc1", "fc2", "fc3"})
            for (const auto quantity : {shadow_quantity::kActivation, shadow_quantity::kActivationGradient,
                                        shadow_quantity::kWeightGradient, shadow_quantity::kUpdate})
                wanted << QStringLiteral("%1 %2").arg(layer, quantity.data());
        QCOMPARE(order, wanted);
        QCOMPARE(report.loss, report.loss32);
        QCOMPARE(report.batches, (std::vector<std::int64_t>{0, 1}));
        QCOMPARE(report.samples, std::int64_t{64});
        QCOMPARE(rowOf(report, "fc1", shadow_quantity::kActivation)->elements, std::int64_t{64 * 48});
        QCOMPARE(rowOf(report, "fc1", shadow_quantity::kWeightGradient)->elements,
                 std::int64_t{64 * 48 + 48});
    }

    void gradientsBelowFp16AreFlushedAndALossScaleRescuesThem()
    {
        RunPlan plan = tinyInputs(m_folder.filePath("tiny.csv"));
        plan.scaler.enabled = false;

        const auto flushed = shadowOf(plan);
        const auto* lost = rowOf(flushed, "fc1", shadow_quantity::kWeightGradient);
        QVERIFY(lost);
        QCOMPARE(lost->elements, std::int64_t{10});
        QCOMPARE(lost->flushed, 0.8); // the eight of the weight, and none of the bias
        QVERIFY(!flushed.lossScale);

        plan.scaler.enabled = true;
        const auto rescued = shadowOf(plan);
        QCOMPARE(*rescued.lossScale, 65536.0);
        QVERIFY(!rescued.skipped);
        QCOMPARE(rowOf(rescued, "fc1", shadow_quantity::kWeightGradient)->flushed, 0.0);
        // Without the scale: else the error would be thousands.
        QVERIFY(rowOf(rescued, "fc1", shadow_quantity::kWeightGradient)->relativeError < 0.01);
        QVERIFY(rowOf(rescued, "fc1", shadow_quantity::kActivationGradient)->relativeError < 0.01);
    }

    void anOverflowIsSaturationAndNoUpdate()
    {
        RunPlan plan = scaledPlan(StrategyKind::Single, 1);
        plan.scaler.initScale = std::ldexp(1.0, 40);

        const auto report = shadowOf(plan);

        QVERIFY(report.skipped);
        QVERIFY(rowOf(report, "fc3", shadow_quantity::kWeightGradient)->saturated > 0.5);
        QVERIFY(!rowOf(report, "fc3", shadow_quantity::kUpdate));
    }

    void a16BitWeightStaysWhereTheUpdateIsSmall()
    {
        RunPlan plan = smallPlan(StrategyKind::Single, 1);
        plan.optimizer.learningRate = 1e-5;
        plan.precision = PrecisionMode::Bf16True;
        const auto low = shadowOf(plan);
        const auto* update = rowOf(low, "fc2", shadow_quantity::kUpdate);
        QVERIFY(*update->stalled > 0.5);
        QVERIFY(update->relativeError > 0.1);
        QCOMPARE(update->dtype, std::string("bf16"));

        plan.precision = PrecisionMode::Bf16Mixed; // fp32 weights
        const auto mixed = shadowOf(plan);
        QVERIFY(*rowOf(mixed, "fc2", shadow_quantity::kUpdate)->stalled < 0.1);
        QVERIFY(rowOf(mixed, "fc2", shadow_quantity::kActivation)->relativeError > 1e-4);
    }

    void everyPrecisionAndStrategyHasAShadow_data()
    {
        QTest::addColumn<int>("precision");
        QTest::addColumn<int>("strategy");
        for (int precision = 0; precision <= static_cast<int>(PrecisionMode::Fp8Mixed); ++precision)
            for (const auto strategy :
                 {StrategyKind::Ddp, StrategyKind::Zero1, StrategyKind::Fsdp, StrategyKind::Fsdp2})
                QTest::addRow("%d %d", precision, static_cast<int>(strategy))
                    << precision << static_cast<int>(strategy);
    }
    void everyPrecisionAndStrategyHasAShadow()
    {
        QFETCH(int, precision);
        QFETCH(int, strategy);
        RunPlan plan = scaledPlan(static_cast<StrategyKind>(strategy), 2);
        plan.precision = static_cast<PrecisionMode>(precision);
        plan.scaler.enabled = plan.precision == PrecisionMode::Fp16Mixed;
        if (plan.precision
            == PrecisionMode::Fp16True) // Adam's squares are zero in fp16: no update to compare.
            plan.optimizer = smallPlan(plan.strategy, 2).optimizer;

        const auto report = shadowOf(plan);

        QCOMPARE(report.ranks, 2);
        QCOMPARE(report.samples, std::int64_t{16}); // those of one rank
        QCOMPARE(report.rows.size(), std::size_t{12});
        for (const auto& row : report.rows)
            QVERIFY2(row.relativeError < 1.5, (row.layer + " " + row.quantity).c_str());
    }

    void aCheckpointGivesWeightsOptimizerAndBatch()
    {
        RunPlan plan = smallPlan(StrategyKind::Single, 1);
        plan.precision = PrecisionMode::Bf16Mixed;
        plan.optimizer = {OptimizerKind::AdamW, OptimizerImpl::Foreach, 1e-3};
        plan.maxSteps = 8;
        RealRun whole(plan);
        QVERIFY(whole.run->wait(std::chrono::seconds(30)));
        plan.maxSteps = 5;
        RealRun half(plan);
        QVERIFY(half.run->wait(std::chrono::seconds(30)));

        const auto report = shadowStep({plan, half.end().checkpoint, 1});

        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QCOMPARE(report->step, std::int64_t{5});
        QCOMPARE(report->batches, std::vector<std::int64_t>{5});
        const auto points = (*RunReader::open(whole.run->folder()))->points({"loss", "1"});
        QCOMPARE(report->loss, points->value.at(5));
    }

    void whatCannotBePreparedIsAnError()
    {
        RunPlan plan = smallPlan(StrategyKind::Single, 1);
        const auto report = shadowStep({plan, m_folder.filePath("no-checkpoint").toStdString(), 1});
        QVERIFY(!report);
        QVERIFY(!report.error().message.empty());
    }
};

QTEST_GUILESS_MAIN(TestShadow)
#include "tst_shadow.moc"
