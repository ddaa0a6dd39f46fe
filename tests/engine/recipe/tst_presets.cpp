#include "engine/recipe/presets.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"
#include "engine/rules/check.h"

#include <QTest>

#include <algorithm>

using namespace mantissa;

class TestPresets : public QObject {
    Q_OBJECT

private slots:
    void theBuiltInOnesAreThoseOfTheFolder()
    {
        auto builtIn = presets();
        std::sort(builtIn.begin(), builtIn.end(), [](const auto& a, const auto& b) { return a.id < b.id; });

        QCOMPARE(builtIn, listPresets(RESOURCES "/presets"));
        QVERIFY(std::count_if(builtIn.begin(), builtIn.end(), [](const auto& p) { return p.good; }) >= 4);
        QVERIFY(std::count_if(builtIn.begin(), builtIn.end(), [](const auto& p) { return !p.good; }) >= 4);
    }

    void eachIsReadWithoutAProblemAndDoesWhatItSays_data()
    {
        QTest::addColumn<int>("index");
        for (int i = 0; i < static_cast<int>(presets().size()); ++i)
            QTest::newRow(presets()[static_cast<std::size_t>(i)].id.c_str()) << i;
    }

    void eachIsReadWithoutAProblemAndDoesWhatItSays()
    {
        QFETCH(int, index);
        const auto& preset = presets()[static_cast<std::size_t>(index)];

        const auto file = readSetup(preset.yaml);

        QVERIFY2(file.problems.empty(), file.problems.empty() ? "" : file.problems[0].message.c_str());
        QVERIFY(!preset.title.empty() && preset.sentence.ends_with('.'));
        const auto target = targetOf(file.setup);
        QVERIFY(target);
        const auto found = findings(file.setup, *target);
        const auto error =
            std::find_if(found.begin(), found.end(), [](const auto& f) { return isError(f.severity); });
        QVERIFY2(preset.good == (error == found.end()),
                 error == found.end() ? "no error" : error->message.c_str());
        if (preset.good) {
            const auto plan = planRun(file.setup);
            QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        }
    }

    void aFileWithoutTheTwoLinesIsNoPreset()
    {
        QVERIFY(!readPreset("x", "trainer: {}\n"));
        QVERIFY(!readPreset("x", "# preset: Title\ntrainer: {}\n"));
        const auto preset = readPreset("x", "# preset: Title\r\n# fails: Because.\r\n");
        QVERIFY(preset);
        QCOMPARE(preset->sentence, std::string("Because."));
        QVERIFY(!preset->good);
        QVERIFY(listPresets("/no/such/folder").empty());
    }
};

QTEST_APPLESS_MAIN(TestPresets)
#include "tst_presets.moc"
