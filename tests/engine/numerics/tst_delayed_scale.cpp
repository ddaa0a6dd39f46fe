#include "engine/numerics/delayed_scale.h"

#include <QTest>

#include <limits>

using namespace mantissa;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

void step(DelayedScale& scale, float largest)
{
    scale.see(largest);
    scale.close(scale.seen());
}

} // namespace

class TestDelayedScale : public QObject {
    Q_OBJECT

private slots:
    void aStepIsRoundedWithWhatEarlierOnesSaw()
    {
        DelayedScale scale(kE4m3, {});
        QCOMPARE(scale.now(), 1.0F);
        scale.see(1.75F);
        scale.see(3.5F); // Another micro batch.
        QCOMPARE(scale.now(), 1.0F);
        scale.close(scale.seen());
        QCOMPARE(scale.now(), 128.0F); // 448 / 3.5
        QCOMPARE(scale.history(), std::vector<float>{3.5F});
    }

    void theMarginKeepsPowersOfTwoFree()
    {
        DelayedScale scale(kE5m2, {1024, 2});
        step(scale, 1.75F);
        QCOMPARE(scale.now(), 8192.0F); // 57344 / 1.75 / 4
    }

    void aValueCountsAsLongAsTheHistoryIs()
    {
        DelayedScale scale(kE4m3, {2, 0});
        step(scale, 56.0F);
        step(scale, 3.5F);
        QCOMPARE(scale.now(), 8.0F);
        step(scale, 3.5F);
        QCOMPARE(scale.now(), 128.0F);
        QCOMPARE(scale.history().size(), std::size_t{2});
    }

    void whatSaysNothingAboutTheRangeChangesNothing_data()
    {
        QTest::addColumn<float>("largest");
        QTest::newRow("Inf") << kInf;
        QTest::newRow("NaN") << std::numeric_limits<float>::quiet_NaN();
    }
    void whatSaysNothingAboutTheRangeChangesNothing()
    {
        QFETCH(float, largest);
        DelayedScale scale(kE4m3, {});
        step(scale, 3.5F);
        scale.see(1.0F);
        step(scale, largest);
        scale.close(scale.seen()); // Nothing was seen.
        QCOMPARE(scale.now(), 128.0F);
        QCOMPARE(scale.history().size(), std::size_t{1});
        QCOMPARE(scale.seen(), -1.0F);
    }

    void zerosKeepTheScaleAndTinyValuesDoNotOverflowIt()
    {
        DelayedScale scale(kE5m2, {1, 0});
        step(scale, 1.75F);
        step(scale, 0.0F);
        QCOMPARE(scale.now(), 32768.0F);
        step(scale, 1e-38F);
        QCOMPARE(scale.now(), std::numeric_limits<float>::max());
    }

    void aShorterHistoryGoesOnFromTheNewestPart()
    {
        DelayedScale scale(kE4m3, {2, 0});
        scale.restore(4.0F, {112.0F, 7.0F, 3.5F});
        QCOMPARE(scale.now(), 4.0F);
        QCOMPARE(scale.history(), (std::vector<float>{7.0F, 3.5F}));
        step(scale, 1.0F);
        QCOMPARE(scale.now(), 128.0F);
    }
};

QTEST_GUILESS_MAIN(TestDelayedScale)
#include "tst_delayed_scale.moc"
