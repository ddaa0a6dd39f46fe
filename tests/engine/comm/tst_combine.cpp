#include "engine/comm/combine.h"

#include <QtTest>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace mantissa;

namespace {

template <typename Element>
std::vector<Element> combined(WireType type, ReduceOp op, const std::vector<std::vector<Element>>& parts)
{
    std::vector<const void*> pointers;
    for (const auto& part : parts)
        pointers.push_back(part.data());
    std::vector<Element> out(parts.front().size());
    combine(type, op, pointers, 0, out.size(), out.data());
    return out;
}

std::vector<std::uint16_t> allHalves()
{
    std::vector<std::uint16_t> halves(65536);
    for (std::size_t i = 0; i < halves.size(); ++i)
        halves[i] = static_cast<std::uint16_t>(i);
    return halves;
}

bool isNanHalf(std::uint16_t half)
{
    return (half & 0x7c00U) == 0x7c00U && (half & 0x3ffU) != 0;
}

} // namespace

class TestCombine : public QObject {
    Q_OBJECT

private slots:
    void addsInTheOrderOfTheParts()
    {
        // (1e8 + 1) - 1e8 is 0 in fp32, (1e8 - 1e8) + 1 is 1.
        QCOMPARE(combined<float>(WireType::F32, ReduceOp::Sum, {{1e8F}, {1.0F}, {-1e8F}}),
                 (std::vector{0.0F}));
        QCOMPARE(combined<float>(WireType::F32, ReduceOp::Sum, {{1e8F}, {-1e8F}, {1.0F}}),
                 (std::vector{1.0F}));
    }

    void addsSixteenBitsInSingleAndRoundsOnce()
    {
        // bf16: 1, 2^-8, 2^-8. Rounding at each addition would stay at 1; the true sum 1 + 2^-7 is a bf16
        // number.
        QCOMPARE(combined<std::uint16_t>(WireType::BF16, ReduceOp::Sum, {{0x3f80}, {0x3b80}, {0x3b80}}),
                 (std::vector<std::uint16_t>{0x3f81}));
        // fp16: 1, 2^-11, 2^-11 in the same way.
        QCOMPARE(combined<std::uint16_t>(WireType::F16, ReduceOp::Sum, {{0x3c00}, {0x1000}, {0x1000}}),
                 (std::vector<std::uint16_t>{0x3c01}));
    }

    void aNanWinsTheMaxFromAnyRank_data()
    {
        QTest::addColumn<int>("rank");
        for (int rank = 0; rank < 3; ++rank)
            QTest::addRow("rank %d", rank) << rank;
    }
    void aNanWinsTheMaxFromAnyRank()
    {
        QFETCH(const int, rank);
        std::vector<std::vector<float>> parts(3, std::vector<float>(9, 2.0F));
        parts[static_cast<std::size_t>(rank)].assign(9, std::numeric_limits<float>::quiet_NaN());
        std::vector<std::vector<std::uint16_t>> halves(3, std::vector<std::uint16_t>(9, 0x4000));
        halves[static_cast<std::size_t>(rank)].assign(9, 0x7e00);

        for (const float value : combined(WireType::F32, ReduceOp::Max, parts))
            QVERIFY(std::isnan(value));
        for (const std::uint16_t value : combined(WireType::F16, ReduceOp::Max, halves))
            QVERIFY(isNanHalf(value));
    }

    void takesTheGreatest()
    {
        QCOMPARE(combined<std::int64_t>(WireType::I64, ReduceOp::Max, {{-3, 4}, {7, -9}}),
                 (std::vector<std::int64_t>{7, 4}));
        QCOMPARE(combined<double>(WireType::F64, ReduceOp::Max, {{-3.0}, {-4.0}}), (std::vector{-3.0}));
    }

    void theProcessorsHalfConversionsAndOursAgree()
    {
        const auto halves = allHalves();
        auto shifted = halves;
        std::rotate(shifted.begin(), shifted.begin() + 12345, shifted.end());
        const std::vector<const void*> parts = {halves.data(), shifted.data()};

        for (const auto op : {ReduceOp::Sum, ReduceOp::Max}) {
            std::vector<std::uint16_t> fast(halves.size());
            std::vector<std::uint16_t> portable(halves.size());
            combine(WireType::F16, op, parts, 0, fast.size(), fast.data());
            combineHalfPortably(op, parts, 0, portable.size(), portable.data());
            for (std::size_t i = 0; i < fast.size(); ++i) {
                const bool bothNan = isNanHalf(fast[i]) && isNanHalf(portable[i]);
                const bool bothZero =
                    (fast[i] & 0x7fffU) == 0 && (portable[i] & 0x7fffU) == 0 && op == ReduceOp::Max;
                QVERIFY2(fast[i] == portable[i] || bothNan || bothZero, qPrintable(QString::number(i)));
            }
        }
    }

    void everyHalfComesBackAsItIs()
    {
        const auto halves = allHalves();
        std::vector<std::uint16_t> out(halves.size());

        combineHalfPortably(ReduceOp::Sum, {halves.data()}, 0, halves.size(), out.data());

        for (std::size_t i = 0; i < out.size(); ++i)
            QVERIFY(out[i] == halves[i] || (isNanHalf(out[i]) && isNanHalf(halves[i])));
    }

    void halvesOverflowToInfinityFrom65520()
    {
        // 65504 + 15.5 = 65519.5 rounds down to 65504; 65504 + 16 = 65520 rounds up past the largest value.
        QCOMPARE(combined<std::uint16_t>(WireType::F16, ReduceOp::Sum, {{0x7bff}, {0x4bc0}}),
                 (std::vector<std::uint16_t>{0x7bff}));
        QCOMPARE(combined<std::uint16_t>(WireType::F16, ReduceOp::Sum, {{0x7bff}, {0x4c00}}),
                 (std::vector<std::uint16_t>{0x7c00}));
    }

    void worksOnASliceAndInPlace()
    {
        std::vector<float> own(5000, 1.0F);
        std::vector<float> other(5000, 2.0F);

        combine(WireType::F32, ReduceOp::Sum, {own.data(), other.data()}, 2500, 2500, own.data() + 2500);

        QCOMPARE(own[2499], 1.0F);
        QCOMPARE(own[2500], 3.0F);
        QCOMPARE(own[4999], 3.0F);
    }
};

QTEST_APPLESS_MAIN(TestCombine)
#include "tst_combine.moc"
