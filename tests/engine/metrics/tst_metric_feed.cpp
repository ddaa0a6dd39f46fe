#include "engine/metrics/metric_feed.h"

#include <QTest>

using namespace mantissa;

class TestMetricFeed : public QObject {
    Q_OBJECT

private slots:
    void handsOverInOrder()
    {
        MetricFeed feed(4);
        feed.push({0, 1, 0.0, 1.5});
        feed.push(std::vector<Sample>{{0, 2, 0.0, 2.5}, {1, 2, 0.0, 3.5}});

        const auto samples = feed.drain();

        QCOMPARE(samples.size(), std::size_t{3});
        QCOMPARE(samples[0].value, 1.5);
        QCOMPARE(samples[2].series, 1);
        QVERIFY(feed.drain().empty());
    }

    void keepsTheNewestWhenFull()
    {
        MetricFeed feed(2);
        for (int step = 0; step < 5; ++step)
            feed.push({0, step, 0.0, 0.0});

        const auto samples = feed.drain();

        QCOMPARE(samples.size(), std::size_t{2});
        QCOMPARE(samples.front().step, std::int64_t{3});
        QCOMPARE(feed.droppedCount(), std::uint64_t{3});
    }
};

QTEST_APPLESS_MAIN(TestMetricFeed)
#include "tst_metric_feed.moc"
