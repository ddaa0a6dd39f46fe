#include "ui/bridge/window_gap_meter.h"
#include "ui/models/events_model.h"
#include "ui/models/ranks_model.h"
#include "ui/plot/axis_range.h"
#include "ui/plot/panel_spec.h"
#include "ui/plot/run_plot.h"
#include "ui/text/run_words.h"
#include "ui/theme/appearance.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

RunOutline scaledOutline()
{
    RunOutline outline;
    outline.scaled = true;
    outline.growthInterval = 100;
    outline.clip = ClipKind::Norm;
    outline.clipAt = 1.0;
    outline.ranks = 2;
    return outline;
}

std::vector<SeriesSpec> catalogue()
{
    return {{"loss", "1"},         {"loss_scale", "1"},          {"growth_tracker", "1"},
            {"grad_norm", "1"},    {"grad_norm_clipped", "1"},   {"lr", "1"},
            {"skipped", "1"},      {"nonfinite_before", "1", 0}, {"nonfinite_before", "1", 1},
            {"found_inf", "1", 0}, {"found_inf", "1", 1}};
}

/// A step of the catalogue; where `norm` is not finite the step was skipped and rank 1 is to blame.
std::vector<Sample> step(std::int64_t at, double norm)
{
    const double skipped = std::isfinite(norm) ? 0.0 : 1.0;
    const double values[] = {2.0, 1024.0,  1.0,     norm,   std::min(norm, 1.0), 1e-3, skipped,
                             0.0, skipped, skipped, skipped};
    std::vector<Sample> samples;
    for (int series = 0; const double value : values)
        samples.push_back({series++, at, 0.0, value});
    return samples;
}

} // namespace

class TestRunPlot : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_appearance = std::make_unique<Appearance>();
    }

    void theCursorReadsEveryPanel()
    {
        RunPlot plot;
        plot.resize(880, 560);
        plot.showRun(scaledOutline(), catalogue());
        for (int at = 0; at < 50; ++at)
            plot.append(step(at, at == 20 ? kInf : 0.5));
        plot.show();

        plot.setCursorNear(10.2);
        QVERIFY2(plot.cursorText().contains(
                     QStringLiteral("Step 10, Loss scale 1024, Gradient norm 0.5 → 0.5, Loss 2")),
                 qPrintable(plot.cursorText()));
        plot.moveCursor(10);
        QVERIFY2(plot.cursorText().contains(QStringLiteral("Inf, skipped")), qPrintable(plot.cursorText()));
    }

    void nextMarkGoesFromOneNonFiniteStepToTheNext()
    {
        RunPlot plot;
        plot.resize(880, 560);
        plot.showRun(scaledOutline(), catalogue());
        for (int at = 0; at < 100; ++at)
            plot.append(step(at, at == 20 ? kInf : at == 70 ? kNaN : 0.5));

        plot.goToNextMark();
        QCOMPARE(plot.cursorStep(), std::optional<double>(20.0));
        plot.goToNextMark();
        QCOMPARE(plot.cursorStep(), std::optional<double>(70.0));
        plot.goToNextMark();
        QCOMPARE(plot.cursorStep(), std::optional<double>(20.0));
    }

    void nextMarkWithoutAnyMarkEnds()
    {
        RunPlot plot;
        plot.showRun(scaledOutline(), catalogue());
        plot.append(step(0, 0.5));
        plot.setCursorNear(0);

        plot.goToNextMark();

        QVERIFY(!plot.cursorStep());
    }

    void followingEndsWithAZoomAwayAndComesBack()
    {
        RunPlot plot;
        plot.resize(880, 560);
        plot.showRun(scaledOutline(), catalogue());
        plot.setLive(true);
        for (int at = 0; at < 1000; ++at)
            plot.append(step(at, 0.5));
        QSignalSpy spy(&plot, &RunPlot::followingChanged);

        plot.showSteps(100, 200);
        QVERIFY(!plot.isFollowing());
        plot.append(step(1000, 0.5));
        QCOMPARE(plot.range(), (std::pair<double, double>(100, 200)));

        QTest::keyClick(&plot, Qt::Key_F);
        QVERIFY(plot.isFollowing());
        QVERIFY(plot.range().second > 1000);
        QCOMPARE(spy.count(), 2);
    }

    void nothingIsDrawnThatIsNotFinite()
    {
        RunPlot plot;
        plot.resize(880, 560);
        plot.showRun(scaledOutline(), catalogue());
        for (int at = 0; at < 40; ++at)
            plot.append(step(at, at % 4 == 0 ? kInf : at % 4 == 1 ? kNaN : at % 4 == 2 ? -kInf : 0.0));

        QVERIFY(!plot.grab().isNull()); // QCustomPlot loops or draws nonsense where an Inf reaches a graph.
    }

    void aMillionPointsAppendAndDraw()
    {
        RunPlot plot;
        plot.resize(1100, 640);
        plot.showRun(scaledOutline(), catalogue());
        plot.show();
        std::vector<Sample> samples;
        samples.reserve(11'000'000);
        for (std::int64_t at = 0; at < 1'000'000; ++at)
            for (const auto& sample : step(
                     at, at % 50'000 == 49'999 ? kInf : 0.5 + 0.4 * std::sin(static_cast<double>(at) * 0.37)))
                samples.push_back(sample);
        QElapsedTimer clock;
        clock.start();
        plot.append(samples);
        const auto appended = clock.restart();
        plot.grab();
        const auto drawn = clock.restart();
        plot.showSteps(200'000, 700'000);
        plot.grab();
        const auto zoomed = clock.elapsed();
        qInfo("11 series of a million points: appended in %lld ms, drawn in %lld ms, zoomed in %lld ms",
              static_cast<long long>(appended), static_cast<long long>(drawn),
              static_cast<long long>(zoomed));
        QVERIFY(drawn < 500);
        QVERIFY(zoomed < 200);
    }

    void theRanksTellWhoOverflowsFirst()
    {
        RunSeries series;
        series.reset(catalogue());
        RanksModel model;
        const QAbstractItemModelTester tester(&model);
        for (int at = 0; at < 10; ++at) {
            series.append(step(at, at < 3 ? kInf : 0.5));
            model.refresh(series);
        }

        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0, RanksModel::Before).data().toString(), QStringLiteral("0"));
        QCOMPARE(model.index(1, RanksModel::Before).data().toString(), QStringLiteral("3"));
        QCOMPARE(model.index(0, RanksModel::After).data().toString(), QStringLiteral("3"));
        QVERIFY(model.remark().contains(QStringLiteral("Rank 1")));
    }

    void anOverflowOfTheReductionIsNoRanks()
    {
        RunSeries series;
        series.reset(catalogue());
        RanksModel model;
        auto samples = step(0, kInf);
        for (auto& sample : samples)
            if (catalogue()[static_cast<std::size_t>(sample.series)].name == "nonfinite_before")
                sample.value = 0.0;
        series.append(samples);

        model.refresh(series);

        QVERIFY2(model.remark().contains(QStringLiteral("adding them up")), qPrintable(model.remark()));
    }

    void eventsComeNewestFirstWithoutStageTraces()
    {
        EventsModel model;
        const QAbstractItemModelTester tester(&model);
        model.append({{1, 0.0, "skipped", "optimizer", -1, {}, "one", {}},
                      {2, 0.0, "stage_trace", "loss", -1, {}, "trace", {}}});
        model.append({{3, 0.0, "growth", "update_scale", -1, {}, "three", {}}});

        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0, EventsModel::What).data().toString(), QStringLiteral("three"));
        QCOMPARE(model.index(1, EventsModel::AtStep).data().toString(), QStringLiteral("1"));
    }

    void theWordsFollowTheRun_data()
    {
        QTest::addColumn<int>("steps");
        QTest::addColumn<int>("overflowFrom");
        QTest::addColumn<QString>("words");

        QTest::newRow("calm") << 400 << 400 << "Training runs in order";
        QTest::newRow("overflows at the start") << 3 << 0 << "finding its place: 3 overflows";
        QTest::newRow("overflows late")
            << 500 << 495
            << "Scale lowered 5 times in the last 200 steps: gradients overflow on rank 1 first";
    }

    void theWordsFollowTheRun()
    {
        QFETCH(int, steps);
        QFETCH(int, overflowFrom);
        QFETCH(QString, words);
        RunSeries series;
        series.reset(catalogue());
        for (int at = 0; at < steps; ++at)
            series.append(step(at, at >= overflowFrom ? kInf : 0.5));

        const auto told = describeRun(series, scaledOutline(),
                                      {steps, 1000, steps - overflowFrom, -1.0, 0, 0, {}}, RunState::Running);

        QVERIFY2(told.sentence.contains(words), qPrintable(told.sentence));
    }

    void aLossThatIsNaNIsSaidWithItsStep()
    {
        RunSeries series;
        series.reset({{"loss", "1"}});
        for (int at = 0; at < 20; ++at)
            series.append({{0, at, 0.0, at < 12 ? 1.0 : kNaN}});

        const auto told = describeRun(series, {}, {20, 100, 0, -1.0, 0, 0, {}}, RunState::Running);

        QCOMPARE(told.tone, Tone::Stop);
        QVERIFY2(told.sentence.contains(QStringLiteral("NaN since step 12")), qPrintable(told.sentence));
    }

    void validationStandsInThePanelsOfWhatItMeasures()
    {
        RunOutline outline;
        const auto curves = [&] {
            QStringList names;
            for (const auto& panel : panelsOf(outline))
                for (const auto& curve : panel.curves)
                    names << QString::fromUtf8(curve.series.data(), static_cast<int>(curve.series.size()));
            return names;
        };
        QVERIFY(!curves().contains(QStringLiteral("val_loss")));
        outline.validated = true;
        QVERIFY(curves().contains(QStringLiteral("val_loss")));
        QVERIFY(curves().contains(QStringLiteral("val_accuracy")));

        // A run says it by its series.
        RunPlot plot;
        plot.resize(800, 700);
        plot.showRun({},
                     {{"loss", "1"},
                      {"accuracy", "1"},
                      {"val_loss", "1", -1, "val"},
                      {"val_accuracy", "1", -1, "val"}});
        for (int at = 0; at < 20; ++at)
            plot.append({{0, at, 0.0, 1.0}, {1, at, 0.0, 0.5}});
        plot.append({{2, 19, 0.0, 0.75}, {3, 19, 0.0, 0.25}});
        plot.setCursorNear(19.0);
        QVERIFY2(plot.cursorText().contains(QStringLiteral("validation 0.75")),
                 qPrintable(plot.cursorText()));
    }

    void fp8ShowsWhatItsGridTakesAway()
    {
        RunOutline outline;
        outline.precision = PrecisionMode::Fp8Mixed;
        QStringList series;
        for (const auto& panel : panelsOf(outline))
            for (const auto& curve : panel.curves)
                series << QString::fromStdString(curve.series);

        for (const char* tensor : {"input", "weight", "gradient"}) {
            QVERIFY(series.contains(QStringLiteral("fp8_flushed_") + QLatin1String(tensor)));
            QVERIFY(series.contains(QStringLiteral("fp8_saturated_") + QLatin1String(tensor)));
        }
        QVERIFY(!series.contains(QStringLiteral("stalled_share")));
    }

    void cleanStepsAreThoseThatTheScalerHolds()
    {
        RunPlot plot;
        plot.showRun(scaledOutline(), catalogue());
        const auto track = [&](std::int64_t at, double before, double skipped) {
            plot.append({{2, at, 0.0, before}, {6, at, 0.0, skipped}});
            return cleanSteps(plot.series(), 100);
        };

        QVERIFY(!cleanSteps(plot.series(), 100));
        QCOMPARE(track(0, 0.0, 0.0), std::optional<std::int64_t>(1));
        QCOMPARE(track(1, 1.0, 0.0), std::optional<std::int64_t>(2));
        QCOMPARE(track(2, 2.0, 1.0), std::optional<std::int64_t>(0));
        QCOMPARE(track(3, 99.0, 0.0), std::optional<std::int64_t>(0)); // It grows and begins anew.
    }

    void theMarksOfAScaleHaveRoomOverTheCurve()
    {
        constexpr double kPanel = 70.0; // Pixels of a low one.
        constexpr double kMark = 13.0;
        for (const auto& [low, high] : {std::pair(1024.0, 1024.0), std::pair(0.5, 65536.0)}) {
            const auto range = rangeFor(PanelAxis::Log2, low, high);
            const double share = std::log2(range.upper / high) / std::log2(range.upper / range.lower);
            QVERIFY2(share * kPanel >= kMark, qPrintable(QString::number(share * kPanel)));
        }
    }

    void whatIsNotStoredIsSaidBeforeWhatIsNotDrawn()
    {
        RunProgress progress;
        QVERIFY(describeLosses(progress, RunState::Running).sentence.isEmpty());
        progress.unshownPoints = 1;
        QCOMPARE(describeLosses(progress, RunState::Running).sentence, QStringLiteral("1 point not drawn."));
        progress.historyTrouble = "No space is left on the device.";
        QCOMPARE(describeLosses(progress, RunState::Running).tone, Tone::Warn);
        progress.lostPoints = 1200;
        const auto lost = describeLosses(progress, RunState::Running);
        QCOMPARE(lost.tone, Tone::Stop);
        QCOMPARE(lost.sentence, QStringLiteral("1,200 points could not be stored."));
        QVERIFY(lost.detail.contains(QStringLiteral("No space")));
    }

private:
    std::unique_ptr<Appearance> m_appearance;
};

QTEST_MAIN(TestRunPlot)
#include "tst_run_plot.moc"
