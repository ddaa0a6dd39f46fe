#include "engine/recipe/fields.h"
#include "engine/recipe/knobs.h"
#include "engine/recipe/value_json.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QTest>

using namespace mantissa;

namespace {

Knobs knobsOf(const nlohmann::json& json)
{
    Knobs knobs;
    for (const auto& [name, value] : json.items())
        knobs.emplace(name, valueFromJson(value));
    return knobs;
}

} // namespace

class TestKnobs : public QObject {
    Q_OBJECT

private slots:
    void everyKnobOfAMeasuredSetupSurvives()
    {
        QFile file(TEST_DATA "/knobs/setups.jsonl");
        QVERIFY(file.open(QIODevice::ReadOnly));
        int rows = 0;
        for (auto line = file.readLine(); !line.isEmpty(); line = file.readLine(), ++rows) {
            const auto knobs = knobsOf(nlohmann::json::parse(line.toStdString()));

            const auto back = knobsFromSetup(setupFromKnobs(knobs));

            for (const auto& [name, value] : knobs) {
                const auto found = back.find(name);
                QVERIFY2(found != back.end(), (name + " is lost in " + line.toStdString()).c_str());
                // Arguments make an object of a strategy's alias: the kind stays.
                if (name != "strategy" || found->second == value)
                    QVERIFY2(found->second == value, (name + ": " + found->second.text()).c_str());
                else
                    QVERIFY2(found->second.asString().ends_with("Strategy"), line.constData());
            }
        }
        QVERIFY(rows > 100);
    }

    void knobsAreSettingsWithTheirOwnPaths()
    {
        const auto setup = setupFromKnobs({{"precision", "16-mixed"},
                                           {"strategy", "fsdp"},
                                           {"strategy.fsdp.state_dict_type", "sharded"},
                                           {"module.optimizer.class", "AdamW"},
                                           {"module.optimizer.fused", true},
                                           {"module.automatic_optimization", false},
                                           {"plugins.precision", "FSDPPrecision(16-mixed)"},
                                           {"scaler", "GradScaler"},
                                           {"env.num_gpus", 2}});

        QCOMPARE(setup[field::precision].asString(), std::string("16-mixed"));
        QCOMPARE(setup[field::fsdpStateDictType].asString(), std::string("sharded"));
        QCOMPARE(setup[field::optimizerClass].asString(), std::string("torch.optim.AdamW"));
        QVERIFY(setup[field::fused].asBool());
        QVERIFY(setup[field::automaticOptimization].isBool());
        QCOMPARE(setup[field::fsdpScaler].asString(), std::string("GradScaler"));
        QCOMPARE(setup[field::envGpus].asInteger(), 2);
    }

    void unknownKnobsCanStillBeRead()
    {
        const auto setup =
            setupFromKnobs({{"tuner.lr_find", true}, {"tuner.lr_find.num_training", 20}, {"odd", "x"}});

        QCOMPARE(knobValue(setup, "tuner.lr_find.num_training").asInteger(), 20);
        QCOMPARE(setup.at(pathOfKnob(setup, "odd")).asString(), std::string("x"));
    }

    void numbersWithoutAWordInJsonAreSpelledOut()
    {
        const Value value = ValueList{Value(1), Value(0.5), Value(-INFINITY), Value(), Value("a")};

        QCOMPARE(jsonFromValue(value).dump(), std::string(R"([1,0.5,"-Infinity",null,"a"])"));
    }
};

QTEST_APPLESS_MAIN(TestKnobs)
#include "tst_knobs.moc"
