#include "engine/recipe/field.h"
#include "engine/recipe/presets.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/setup_text.h"
#include "engine/recipe/step_plan.h"
#include "engine/rules/check.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;

namespace {

std::vector<Value> oddValues()
{
    const Value stranger(
        ValueMap{{"class_path", Value("some.Stranger")}, {"init_args", Value(ValueList{Value(1)})}});
    return {Value(Null{}),
            Value(""),
            Value(-1),
            Value(0),
            Value(std::numeric_limits<std::int64_t>::max()),
            Value(std::numeric_limits<std::int64_t>::min()),
            Value(1e308),
            Value(-0.5),
            Value(std::nan("")),
            Value(std::numeric_limits<double>::infinity()),
            Value(true),
            Value(std::string(5000, 'x')),
            Value("torch.optim.SGD"),
            Value(ValueList{}),
            Value(ValueList{Value(1), Value("two"), Value(Null{})}),
            Value(ValueMap{{"a", Value(ValueMap{{"b", Value(1)}})}}),
            Value(ValueMap{{"class_path", Value(3)}}),
            stranger};
}

} // namespace

/// What a person may write into any field: all that reads a set-up has to live with it.
class TestOddValues : public QObject {
    Q_OBJECT

private slots:
    void everyFieldTakesOrRefusesEveryOddValue_data()
    {
        QTest::addColumn<int>("index");
        for (int i = 0; i < static_cast<int>(allFields().size()); ++i)
            QTest::newRow(std::string(allFields()[static_cast<std::size_t>(i)]->path).c_str()) << i;
    }

    void everyFieldTakesOrRefusesEveryOddValue()
    {
        QFETCH(int, index);
        const std::string path(allFields()[static_cast<std::size_t>(index)]->path);
        std::size_t turn = static_cast<std::size_t>(index);
        for (const auto& value : oddValues()) {
            const auto& preset = presets()[turn++ % presets().size()];
            const auto text = editSetupText(preset.yaml, {Edit{EditOp::Set, path, value}});
            if (!text) { // The value would have to go into something that holds no settings.
                QVERIFY(!text.error().message.empty() && !text.error().hint.empty());
                continue;
            }
            const auto file = readSetup(*text);
            QVERIFY2(file.isReadable(), text->c_str());
            const auto target = targetOf(file.setup);
            if (target)
                (void)check(file.setup, *target);
            else
                QVERIFY(!target.error().message.empty());
            QVERIFY(!makeStepPlan(file.setup).stages.empty());
            const auto plan = planRun(file.setup);
            if (!plan) {
                QVERIFY(!plan.error().message.empty() && !plan.error().hint.empty());
                continue;
            }
            QVERIFY2(plan->ranks >= 1 && plan->threadsPerRank >= 1 && plan->batchSize >= 1, text->c_str());
            QVERIFY2(std::isfinite(plan->optimizer.learningRate), text->c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestOddValues)
#include "tst_odd_values.moc"
