#include "engine/metrics/levels.h"

#include <QElapsedTimer>
#include <QTest>

#include <cmath>
#include <random>

using namespace mantissa;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

SeriesLevels noisy(std::int64_t count)
{
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0.0, 1.0);
    SeriesLevels levels;
    for (std::int64_t step = 0; step < count; ++step)
        levels.append(step, step % 97 == 13 ? kNaN : noise(random));
    return levels;
}

/// The extremes of a stretch, point by point.
LevelExtent slowExtent(const SeriesLevels& levels, double from, double to)
{
    LevelExtent extent;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double value = levels.value(i);
        if (levels.x(i) < from || levels.x(i) > to || !std::isfinite(value))
            continue;
        extent.min = std::fmin(extent.min, value);
        extent.max = std::fmax(extent.max, value);
        if (value > 0)
            extent.minPositive = std::fmin(extent.minPositive, value);
    }
    return extent;
}

} // namespace

class TestLevels : public QObject {
    Q_OBJECT

private slots:
    void showsEveryPointWhereThereIsRoom()
    {
        SeriesLevels levels;
        for (int step = 0; step < 5; ++step)
            levels.append(step, step * 1.5);

        const auto buckets = levels.query(0, 4, 100);

        QCOMPARE(buckets.size(), std::size_t{5});
        QCOMPARE(buckets[3].min, 4.5);
        QCOMPARE(buckets[3].max, 4.5);
        QCOMPARE(buckets[3].firstX, 3.0);
    }

    void aSpikeSurvivesAnyWidth()
    {
        SeriesLevels levels;
        for (int step = 0; step < 100'000; ++step)
            levels.append(step, step == 54'321 ? 1e6 : std::sin(step));

        for (const int pixels : {1, 7, 100, 1000}) {
            const auto buckets = levels.query(0, 1e5, pixels);
            const auto highest = std::max_element(buckets.begin(), buckets.end(),
                                                  [](const auto& a, const auto& b) { return a.max < b.max; });
            QCOMPARE(highest->max, 1e6);
            QVERIFY(highest->firstX <= 54'321 && highest->lastX >= 54'321);
            QVERIFY(buckets.size() <= static_cast<std::size_t>(2 * pixels + 2));
        }
    }

    void aQueryCoversEachPointOnce()
    {
        const auto levels = noisy(10'007);

        const auto buckets = levels.query(1000.5, 9000, 50);

        std::uint32_t points = 0;
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            points += buckets[i].finite + buckets[i].nonFinite;
            if (i > 0)
                QCOMPARE(buckets[i].firstX, buckets[i - 1].lastX + 1);
        }
        QCOMPARE(buckets.front().firstX, 1000.0); // One point beyond each edge.
        QCOMPARE(buckets.back().lastX, 9001.0);
        QCOMPARE(points, 8002U);
    }

    void extentsEqualASearchPointByPoint()
    {
        const auto levels = noisy(5000);

        for (const auto& [from, to] :
             {std::pair{0.0, 4999.0}, {3.0, 4.0}, {255.0, 4097.0}, {16.0, 31.0}, {4990.0, 9e9}}) {
            const auto fast = levels.extent(from, to);
            const auto slow = slowExtent(levels, from, to);
            QCOMPARE(fast.min, slow.min);
            QCOMPARE(fast.max, slow.max);
            QCOMPARE(fast.minPositive, slow.minPositive);
        }
        QCOMPARE(levels.extent().max, slowExtent(levels, 0, 1e9).max);
    }

    void nonFiniteValuesKeepTheirSteps()
    {
        SeriesLevels levels;
        levels.append(0, 1.0);
        levels.append(7, kNaN);
        levels.append(9, -kInf);
        levels.append(12, 3.0);

        const auto buckets = levels.query(0, 20, 1);

        QCOMPARE(levels.nonFinite().size(), std::size_t{2});
        QCOMPARE(levels.nonFinite()[0].step, std::int64_t{7});
        QVERIFY(std::isnan(levels.nonFinite()[0].value));
        QCOMPARE(levels.nonFinite()[1].value, -kInf);
        QCOMPARE(buckets[0].min, 1.0);
        QCOMPARE(levels.extent().max, 3.0);
    }

    void aStretchOfNaNHasNoExtremes()
    {
        SeriesLevels levels;
        for (int step = 0; step < 64; ++step)
            levels.append(step, kNaN);

        const auto buckets = levels.query(0, 63, 2);

        QCOMPARE(buckets.front().finite, 0U);
        QVERIFY(std::isnan(buckets.front().max));
        QVERIFY(std::isnan(levels.extent().min));
    }

    void anEmptySeriesHasNothingToDraw()
    {
        const SeriesLevels levels;

        QVERIFY(levels.query(0, 10, 100).empty());
        QCOMPARE(levels.nearest(3.0), levels.size());
    }

    void findsTheNearestPoint()
    {
        SeriesLevels levels;
        for (const int step : {0, 10, 20})
            levels.append(step, step);

        QCOMPARE(levels.nearest(-5), std::size_t{0});
        QCOMPARE(levels.nearest(14), std::size_t{1});
        QCOMPARE(levels.nearest(16), std::size_t{2});
        QCOMPARE(levels.nearest(99), std::size_t{2});
    }

    void aMillionPointsAreQueriedWithinAFrame()
    {
        const auto levels = noisy(1'000'000);
        QElapsedTimer timer;
        timer.start();

        const auto buckets = levels.query(0, 1e6, 1000);

        const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        qInfo("a million points at 1000 pixels: %.2f ms", ms);
        QVERIFY(!buckets.empty());
        QVERIFY(ms < 16.0);
    }
};

QTEST_APPLESS_MAIN(TestLevels)
#include "tst_levels.moc"
