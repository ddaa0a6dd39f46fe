#include "engine/rules/rule.h"
#include "engine/rules/text_findings.h"
#include "tests/engine/rules/case_table.h"

#include <QTest>

using namespace mantissa;

namespace {

Setup shardedAndClipped()
{
    return setupFromKnobs({{"accelerator", Value("gpu")},
                           {"devices", Value(2)},
                           {"strategy", Value("fsdp")},
                           {"precision", Value("16-mixed")},
                           {"module.optimizer.class", Value("AdamW")},
                           {"module.optimizer.fused", Value(true)},
                           {"gradient_clip_val", Value(1.0)}});
}

} // namespace

class TestCheck : public QObject {
    Q_OBJECT

private slots:
    void oneSetupStopsAtDifferentStages()
    {
        const Setup setup = shardedAndClipped();

        const auto trainer = check(setup, *targetNamed("trainer-2.6.6"));
        const auto fabric = check(setup, *targetNamed("fabric-2.6.6"));
        const auto engine = check(setup, *targetNamed("mantissa"));

        QCOMPARE(trainer.onTarget.verdict, Verdict::Stops);
        QCOMPARE(trainer.onTarget.stage, Stage::Clip);
        QCOMPARE(fabric.onTarget.stage, Stage::Unscale);
        QCOMPARE(fabric.onTarget.words, std::string("Target: will stop at step 1, at Unscale"));
        QVERIFY(!findingOf(engine.findings, "fsdp-clip-norm"));
    }

    void theSilentWayOutStandsLastAndSaysSo()
    {
        const auto report = check(shardedAndClipped(), *targetNamed("trainer-2.6.6"));

        const Finding* finding = findingOf(report.findings, "fsdp-clip-norm");
        QVERIFY(finding);
        const Fix& last = finding->fixes.back();
        QCOMPARE(last.title, std::string("Clip by value"));
        QCOMPARE(last.raises, std::vector<std::string>{"fsdp-clip-scaled"});
        QVERIFY(last.text.find("still scaled") != std::string::npos);
    }

    void theModeOfARunSaysWhichErrorsKeepItFromStarting()
    {
        const auto report = check(shardedAndClipped(), *targetNamed("fabric-2.6.6"));

        const auto refusing = startRefusals(report, RunMode::Default);

        QCOMPARE(refusing.size(), std::size_t{1});
        QCOMPARE(refusing.front().stage, Stage::Unscale);
        QVERIFY(refusing.front().raises.starts_with("NotImplementedError: Gradient clipping"));
        QVERIFY(startRefusals(report, RunMode::Faithful).empty());
        QVERIFY(startRefusals(report, RunMode::Extended).empty());
    }

    void safeFixesAreAppliedUntilNoneIsLeft()
    {
        const Setup setup = shardedAndClipped();

        const auto fixed = fixAllSafe(setup, *targetNamed("fabric-2.6.6"));

        QCOMPARE(fixed.applied, std::vector<std::string>{"Use AdamW without fused"});
        QCOMPARE(fixed.rounds, 1);
        QVERIFY(!fixed.cycle);
        QCOMPARE(diff(setup, fixed.setup).size(), std::size_t{1});
        QVERIFY(findings(fixed.setup, *targetNamed("fabric-2.6.6")).empty()
                || !isError(findings(fixed.setup, *targetNamed("fabric-2.6.6")).front().severity));
    }

    void aFactThatNobodyGaveIsCounted()
    {
        Setup setup = shardedAndClipped();
        const auto asked = check(setup, *targetNamed("trainer-2.6.6"));
        QVERIFY(setup.set("mantissa.facts.automatic_optimization", Value(true)));
        const auto told = check(setup, *targetNamed("trainer-2.6.6"));

        const auto counts = [](const CheckReport& report) {
            for (const Assumption& assumption : report.assumed) {
                if (assumption.path == "mantissa.facts.automatic_optimization")
                    return assumption.rules;
            }
            return 0;
        };

        QVERIFY(counts(asked) > 0);
        QCOMPARE(counts(told), 0);
    }

    void aFindingCanBeSuppressedWithAReason()
    {
        Setup setup = shardedAndClipped();
        QVERIFY(setup.set("mantissa.suppress",
                          ValueList{ValueMap{{"rule", Value("fsdp-clip-norm")},
                                             {"path", Value("trainer.gradient_clip_val")},
                                             {"reason", Value("clipped by a hook")}}}));

        const auto report = check(setup, *targetNamed("trainer-2.6.6"));

        QVERIFY(!findingOf(report.findings, "fsdp-clip-norm"));
        QCOMPARE(report.suppressed.size(), std::size_t{1});
        QCOMPARE(report.suppressed.front().reason, std::string("clipped by a hook"));
        QCOMPARE(report.onTarget.verdict, Verdict::Runs);
    }

    void anotherPlaceIsNotSuppressed()
    {
        Setup setup = shardedAndClipped();
        QVERIFY(setup.set(
            "mantissa.suppress",
            ValueList{ValueMap{{"rule", Value("fsdp-clip-norm")}, {"path", Value("trainer.max_epochs")}}}));

        QVERIFY(findingOf(check(setup, *targetNamed("trainer-2.6.6")).findings, "fsdp-clip-norm"));
    }

    void rulesKnowTheirVersions_data()
    {
        QTest::addColumn<QString>("version");
        QTest::addColumn<bool>("inside");
        QTest::newRow("first") << "2.1" << true;
        QTest::newRow("patch") << "2.1.4" << true;
        QTest::newRow("later") << "2.10.0" << true;
        QTest::newRow("before") << "2.0.9" << false;
        QTest::newRow("end") << "3.0" << false;
        QTest::newRow("old") << "1.9.5" << false;
        QTest::newRow("with a suffix") << "2.6.6rc1" << true;
    }
    void rulesKnowTheirVersions()
    {
        QFETCH(QString, version);
        QFETCH(bool, inside);

        QCOMPARE(VersionRange({"2.1", "3.0"}).contains(version.toStdString()), inside);
    }

    void versionsThatWereNotMeasuredAreMarked()
    {
        const auto report = check(Setup(), *targetNamed("trainer-2.5.6"));

        QVERIFY(!report.target.verified);
        QVERIFY(report.onTarget.words.find("unverified") != std::string::npos);
        QCOMPARE(report.onTarget.verdict, Verdict::NotChecked);
        QVERIFY(check(Setup(), *targetNamed("trainer-2.6.6")).target.verified);
    }

    void anEmptySetupIsNotSaidToRun()
    {
        const auto report = check(Setup(), *targetNamed("trainer-2.6.6"));

        QCOMPARE(report.onTarget.verdict, Verdict::NotChecked);
        QCOMPARE(report.here.verdict, Verdict::WontStart);
    }

    void aTargetIsANameOrAMap()
    {
        QCOMPARE(targetFrom(Value())->name, std::string("trainer-2.6.6"));
        QCOMPARE(targetFrom(ValueMap{})->framework, Framework::Trainer);
        const auto fabric = targetFrom(ValueMap{{"framework", Value("fabric")}, {"gpus", Value(8)}});
        QCOMPARE(fabric->framework, Framework::Fabric);
        QCOMPARE(fabric->gpus, std::optional<int>(8));
        QVERIFY(!targetFrom(ValueMap{{"colour", Value("red")}}));
        QVERIFY(!targetFrom(ValueMap{{"gpus", Value(-1)}}));
        QVERIFY(!targetFrom(Value(3)));
        QVERIFY(targetNamed("nothing").error().hint.find("fabric-2.6.6") != std::string::npos);
    }

    void whatTheRowSaysOfItsSurroundingsWins()
    {
        const Setup setup = setupFromKnobs({{"accelerator", Value("gpu")}, {"env.num_gpus", Value(1)}});
        Target target = *targetNamed("trainer-2.6.6-cpu");

        QVERIFY(!findingOf(findings(setup, target), "accelerator-unavailable"));
        QCOMPARE(check(setup, target).target.gpus, std::optional<int>(1));
    }

    void troubleOfTheTextIsAFindingAtItsPlace()
    {
        const auto file = readSetup("trainer:\n  precision: 16-mixed\n  precision: bf16-mixed\n");

        const auto report = checkFile(file, *targetNamed("trainer-2.6.6"));

        const Finding* finding = findingOf(report.findings, "duplicate_key");
        QVERIFY(finding);
        QCOMPARE(finding->severity, Severity::Differs);
        QVERIFY(placeOf(*finding, file).line >= 2);
    }

    void aFindingStandsAtTheSettingThatIsWritten()
    {
        const auto file = readSetup("trainer:\n  devices: 2\n  strategy: fsdp\n  accelerator: cpu\n");
        const auto report = checkFile(file, *targetNamed("trainer-2.6.6"));
        const Finding* finding = findingOf(report.findings, "fsdp-needs-gpu");
        QVERIFY(finding);

        const SourcePoint place = placeOf(*finding, file);

        QCOMPARE(place.line, std::size_t{3});
        QCOMPARE(place.column, std::size_t{3});
    }
};

QTEST_APPLESS_MAIN(TestCheck)
#include "tst_check.moc"
