#include "engine/train/step_report.h"

#include <QTest>

#include <algorithm>

using namespace mantissa;

namespace {

RunPlan planOf(bool scaler, int ranks)
{
    RunPlan plan;
    plan.ranks = ranks;
    plan.scaler.enabled = scaler;
    return plan;
}

bool has(const StepSeries& series, const std::string& name, int rank)
{
    const auto& all = series.catalogue();
    return std::any_of(all.begin(), all.end(),
                       [&](const SeriesSpec& spec) { return spec.name == name && spec.rank == rank; });
}

} // namespace

class TestStepReport : public QObject {
    Q_OBJECT

private slots:
    void aRunWithoutALossScaleHasNoSeriesForIt()
    {
        const StepSeries with(planOf(true, 1));
        const StepSeries without(planOf(false, 1));

        QVERIFY(has(with, "loss_scale", -1));
        QVERIFY(!has(without, "loss_scale", -1));
        QVERIFY(has(without, "update_ratio", -1));
    }

    void eachRankHasItsOwnNonfiniteSeries()
    {
        const StepSeries series(planOf(true, 2));

        QVERIFY(has(series, "nonfinite_before", 0));
        QVERIFY(has(series, "nonfinite_before", 1));
        QVERIFY(!has(series, "nonfinite_before", 2));
    }

    void onlyRankZeroSpeaksForTheWholeRun()
    {
        const StepSeries series(planOf(true, 2));
        StepReport report;
        report.step = 7;
        report.loss = 1.5;

        const auto first = series.samples(report, 0, 2.0);
        const auto second = series.samples(report, 1, 2.0);

        const auto isLoss = [&](const Sample& sample) {
            return series.catalogue()[std::size_t(sample.series)].name == "loss";
        };
        QCOMPARE(std::count_if(first.begin(), first.end(), isLoss), 1);
        QCOMPARE(std::count_if(second.begin(), second.end(), isLoss), 0);
        QCOMPARE(first.front().step, std::int64_t{7});
    }
};

QTEST_APPLESS_MAIN(TestStepReport)
#include "tst_step_report.moc"
