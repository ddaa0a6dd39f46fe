#include "engine/numerics/exponent_histogram.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace mantissa;

namespace {

/// One number at a time, by the library's own function.
ExponentHistogram byHand(const std::vector<float>& numbers)
{
    ExponentHistogram histogram;
    for (const float number : numbers) {
        const int exponent = number == 0.0F || !std::isfinite(number) ? 0 : std::ilogb(number);
        if (!std::isfinite(number))
            ++histogram.nonfinite;
        else if (number == 0.0F)
            ++histogram.zeros;
        else if (exponent < ExponentHistogram::kLowest)
            ++histogram.below;
        else if (exponent > ExponentHistogram::kHighest)
            ++histogram.above;
        else
            ++histogram.counts[static_cast<std::size_t>(exponent - ExponentHistogram::kLowest)];
    }
    return histogram;
}

} // namespace

class TestExponentHistogram : public QObject {
    Q_OBJECT

private slots:
    void everyNumberIsInOneBin()
    {
        constexpr float kInf = std::numeric_limits<float>::infinity();
        const std::vector<float> odd = {0.0F,       -0.0F,         1.0F,      -1.99F,    2.0F,      0x1p-64F,
                                        0x1.fp-65F, 0x1p63F,       0x1.fp63F, 0x1p64F,   0x1p-149F, kInf,
                                        -kInf,      std::nanf(""), 0x1p-126F, -0x1p127F, 65504.0F,  0x1p-24F};
        ExponentHistogram histogram;

        histogram.add(odd.data(), odd.size());

        QVERIFY(histogram == byHand(odd));
        QCOMPARE(histogram.total(), std::uint64_t{odd.size()});
        QCOMPARE(histogram.zeros, std::uint64_t{2});
        QCOMPARE(histogram.nonfinite, std::uint64_t{3});
        QCOMPARE(histogram.counts[64], std::uint64_t{2}); // 1 and -1.99
    }

    void anyLengthIsCounted_data()
    {
        QTest::addColumn<int>("length");
        for (const int length : {0, 1, 7, 8, 9, 8191, 8192, 8193, 100003})
            QTest::addRow("%d", length) << length;
    }
    void anyLengthIsCounted()
    {
        QFETCH(int, length);
        std::mt19937 draw(5);
        std::vector<float> numbers(static_cast<std::size_t>(length));
        for (auto& number : numbers)
            number = std::ldexp(std::uniform_real_distribution<float>(-1.0F, 1.0F)(draw),
                                static_cast<int>(draw() % 200) - 130);
        ExponentHistogram histogram;

        histogram.add(numbers.data(), numbers.size());

        QVERIFY(histogram == byHand(numbers));
    }

    void itAddsUp()
    {
        const std::vector<float> numbers = {1.0F, 0.25F, 0.0F};
        ExponentHistogram twice;
        twice.add(numbers.data(), 3);
        twice.add(numbers.data(), 3);

        QCOMPARE(twice.total(), std::uint64_t{6});
        QCOMPARE(twice.counts[62], std::uint64_t{2});
    }
};

QTEST_APPLESS_MAIN(TestExponentHistogram)
#include "tst_exponent_histogram.moc"
