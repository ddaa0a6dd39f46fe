#include "engine/recipe/setup_file.h"
#include "engine/rules/check.h"
#include "ui/pages/run/run_failure.h"

#include <QTest>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

const char* const kClipsFused = R"(trainer:
  precision: 16-mixed
  max_epochs: 1
  gradient_clip_val: 1.0
model:
  class_path: mantissa.MLP
data:
  class_path: mantissa.FashionMNIST
optimizer:
  class_path: torch.optim.AdamW
  init_args: {lr: 1.0e-3, fused: true}
mantissa:
  mode: faithful
)";

RunEvent failureAt(const char* stage, const char* message)
{
    return {7, 0.5, "failure", stage, 1, {}, message, {}};
}

Setup draftOf(const FailureAdvice& advice)
{
    return readSetup(advice.draft.toStdString()).setup;
}

} // namespace

class TestRunFailure : public QObject {
    Q_OBJECT

private slots:
    void theDocumentedFixComesFirstAndIsADraft()
    {
        const auto failure =
            describeFailure({failureAt("clip", "Rank 1 failed at Clip in step 7")}, kClipsFused, {}, {});

        QVERIFY(failure.stage == Stage::Clip);
        QVERIFY(failure.advice.size() >= 2);
        QCOMPARE(failure.advice.front().tag, QStringLiteral("safe"));
        const auto fixed = draftOf(failure.advice.front());
        QVERIFY(!startRefusals(check(fixed, *targetOf(fixed)), RunMode::Default).size());
    }

    void aStageWithoutAFindingOffersNoFix()
    {
        const auto failure =
            describeFailure({failureAt("data", "Rank 1 failed at Data in step 7")}, kClipsFused, {}, "Look.");

        QCOMPARE(failure.advice.size(), std::size_t{2}); // What the engine says, and the set-up as it ran.
        QCOMPARE(failure.advice.front().text, QStringLiteral("Look."));
        QCOMPARE(failure.advice.back().draft, QLatin1String(kClipsFused));
    }

    void aFaultMadeOnPurposeIsTakenOut()
    {
        const auto text = std::string(kClipsFused) + "  inject:\n    - {step: 7, rank: 1, kind: throw}\n";

        auto event = failureAt("data", "Rank 1 failed at Data in step 7");
        event.detail = R"({"code":"internal","on_purpose":true})";

        const auto failure = describeFailure({event}, text, {}, {});

        QVERIFY(!draftOf(failure.advice.front()).has("mantissa.inject"));
        QCOMPARE(draftOf(failure.advice.front()).at("mantissa.mode").asString(), std::string("faithful"));
    }

    void aCheckpointIsAWayOn()
    {
        const auto failure = describeFailure(
            {{4, 0.2, "checkpoint", "record", -1, {}, "A checkpoint.", {}}, failureAt("data", "gone")},
            kClipsFused, {}, {});

        QVERIFY(failure.advice.front().resumes);
        QCOMPARE(failure.advice.front().title, QStringLiteral("Go on from step 4"));
    }

    void theFirstFailureIsTheCause()
    {
        const auto failure = describeFailure({{3, 0.1, "growth", {}, -1, {}, "The loss scale grows.", {}},
                                              failureAt("backward", "out of memory"),
                                              failureAt("reduce", "rank 0 waited")},
                                             kClipsFused, {}, {});

        QCOMPARE(failure.cause.message, std::string("out of memory"));
        QCOMPARE(failure.place(), QStringLiteral("Rank 1 ended in step 7, at Backward."));
    }

    void withoutAnyRecordOfItThatIsSaid()
    {
        const auto failure = describeFailure({}, {}, {}, {});

        QVERIFY(!failure.stage);
        QVERIFY(failure.advice.empty());
        QCOMPARE(failure.place(), QStringLiteral("Where it ended was not recorded."));
    }
};

QTEST_MAIN(TestRunFailure)
#include "tst_run_failure.moc"
