#include "engine/train/trainer_meter.h"

#include <QtTest>

#include <cmath>

using namespace mantissa;

namespace {

std::vector<at::Tensor> ones(std::int64_t rows, std::int64_t columns, at::ScalarType type)
{
    return {at::ones({rows, columns}, type), at::ones({columns}, type)};
}

void setGradients(const std::vector<at::Tensor>& parameters, double value)
{
    for (const auto& parameter : parameters)
        parameter.mutable_grad() = at::full_like(parameter, value);
}

bool near(double value, double wanted, double tolerance)
{
    return std::abs(value - wanted) <= tolerance * std::abs(wanted);
}

} // namespace

class UpdateMeterTest : public QObject {
    Q_OBJECT

private slots:
    void aSmallModelIsMeasuredWhole_data()
    {
        QTest::addColumn<int>("type");
        for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16})
            QTest::addRow("%s", at::toString(type)) << static_cast<int>(type);
    }
    void aSmallModelIsMeasuredWhole()
    {
        QFETCH(int, type);
        const auto parameters = ones(30, 40, static_cast<at::ScalarType>(type));
        setGradients(parameters, 1.0);
        UpdateMeter meter(parameters);

        parameters[0].mul_(2.0); // The bias of 40 keeps its values.
        const UpdateTally tally = meter.measure(parameters);

        QCOMPARE(tally.parameterSquares, 4.0 * 1200 + 40);
        QCOMPARE(tally.changeSquares, 1200.0);
        QCOMPARE(tally.changed, 1200.0);
        QCOMPARE(tally.driven, 1240.0);
        QCOMPARE(tally.stalled, 40.0);
    }

    void theNextMeasureStartsFromThisOne()
    {
        const auto parameters = ones(30, 40, at::kFloat);
        UpdateMeter meter(parameters);
        parameters[0].add_(1.0);
        meter.measure(parameters);
        QCOMPARE(meter.measure(parameters).changed, 0.0);
    }

    void anElementWithoutGradientIsNotStalled()
    {
        const auto parameters = ones(30, 40, at::kFloat);
        UpdateMeter meter(parameters);
        const UpdateTally tally = meter.measure(parameters);
        QCOMPARE(tally.driven, 0.0);
        QCOMPARE(tally.stalled, 0.0);
    }

    void aLargeModelIsEstimatedFromBlocksOverAllOfIt()
    {
        // Half of the columns move, so a choice that always hits the same columns would be far off.
        const auto parameters = ones(1024, 1024, at::kFloat);
        setGradients(parameters, 1.0);
        UpdateMeter meter(parameters);

        parameters[0].slice(1, 0, 512).add_(1.0);
        const UpdateTally tally = meter.measure(parameters);

        const double half = 512.0 * 1024.0;
        QVERIFY(near(tally.changed, half, 0.1));
        QVERIFY(near(tally.changeSquares, half, 0.1));
        QVERIFY(near(tally.driven, 2.0 * half + 1024, 0.001));
        QVERIFY(near(tally.stalled, half, 0.1));
    }

    void everyParameterIsLookedAt()
    {
        std::vector<at::Tensor> parameters;
        for (int i = 0; i < 50; ++i)
            parameters.push_back(at::ones({i == 0 ? 4'000'000 : 3}));
        UpdateMeter meter(parameters);
        parameters[49].add_(1.0);
        QVERIFY(meter.measure(parameters).changed > 0.0);
    }
};

QTEST_GUILESS_MAIN(UpdateMeterTest)
#include "tst_update_meter.moc"
