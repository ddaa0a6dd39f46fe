#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors.h"
#include "tests/support/real_runs.h"
#include "tests/support/stored_bits.h"

#include <QDir>
#include <QtTest>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kStop = 9; // In the middle of an epoch.
constexpr std::int64_t kEnd = 17;

RunPlan transformerPlan(StrategyKind strategy, int ranks)
{
    TransformerPlan model;
    model.context = 8;
    model.width = 32;
    model.heads = 2;
    model.layers = 2;
    model.dropout = 0.1;
    return tokenPlan(strategy, ranks, model, 96);
}

/// Everything that has to be carried over: momenta, a falling rate, a loss scale that grows and falls,
/// windows of several batches, dropout.
RunPlan planOf(StrategyKind strategy, PrecisionMode precision, bool transformer)
{
    const int ranks = strategy == StrategyKind::Single ? 1 : 2;
    RunPlan plan = (transformer ? transformerPlan : smallPlan)(strategy, ranks);
    plan.precision = precision;
    plan.scaler.enabled = precision == PrecisionMode::Fp16Mixed;
    plan.scaler.initScale = 1024.0;
    plan.scaler.growthInterval = 3;
    if (plan.scaler.enabled)
        plan.faults = {{4, 0, FaultKind::Inf}, {13, ranks - 1, FaultKind::Inf}};
    plan.optimizer = {OptimizerKind::AdamW, OptimizerImpl::Foreach, 1e-3};
    plan.schedule.kind = ScheduleKind::WarmupCosine;
    plan.schedule.warmup = 3;
    plan.schedule.total = 30;
    plan.accumulate = {{0, 2}};
    plan.clip = {ClipKind::Norm, 0.5, 2.0};
    plan.maxSteps = kEnd;
    return plan;
}

std::optional<double> valueAt(const std::filesystem::path& folder, const char* series, std::int64_t step)
{
    const auto points = (*RunReader::open(folder))->points({series, "1"});
    for (std::size_t i = 0; i < points->step.size(); ++i)
        if (points->step[i] == step)
            return points->value[i];
    return std::nullopt;
}

QStringList messagesOf(const std::filesystem::path& folder, const std::string& kind)
{
    QStringList messages;
    const auto events = (*RunReader::open(folder))->events();
    for (const auto& event : *events)
        if (event.kind == kind)
            messages << QString::fromStdString(event.message);
    return messages;
}

/// Steps after which checkpoints are on the disk.
QStringList foldersOf(const RealRun& real)
{
    return QDir(QString::fromStdString((real.run->folder() / "checkpoints").string()))
        .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
}

} // namespace

class TestResume : public QObject {
    Q_OBJECT

private slots:
    void aResumedRunHasTheBitsOfOneThatNeverStopped_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("precision");
        QTest::addColumn<bool>("transformer");
        QTest::addColumn<bool>("sharded");
        const std::pair<StrategyKind, const char*> strategies[] = {{StrategyKind::Single, "single"},
                                                                   {StrategyKind::Ddp, "ddp"},
                                                                   {StrategyKind::Zero1, "zero1"},
                                                                   {StrategyKind::Fsdp, "fsdp"},
                                                                   {StrategyKind::Fsdp2, "fsdp2"}};
        for (const auto& [strategy, name] : strategies) {
            for (const auto precision :
                 {PrecisionMode::Fp32True, PrecisionMode::Fp16Mixed, PrecisionMode::Bf16Mixed}) {
                const std::string id(precisionId(precision));
                for (const bool transformer : {false, true})
                    QTest::addRow("%s, %s, %s", name, id.c_str(), transformer ? "transformer" : "mlp")
                        << static_cast<int>(strategy) << static_cast<int>(precision) << transformer << false;
            }
        }
        for (const auto& [strategy, name] : strategies)
            QTest::addRow("%s, fp8-mixed", name)
                << static_cast<int>(strategy) << static_cast<int>(PrecisionMode::Fp8Mixed)
                << (strategy != StrategyKind::Fsdp2) << false;
        QTest::addRow("fsdp, fp8-mixed, in shards")
            << static_cast<int>(StrategyKind::Fsdp) << static_cast<int>(PrecisionMode::Fp8Mixed) << true
            << true;
        QTest::addRow("fsdp, 16-mixed, in shards")
            << static_cast<int>(StrategyKind::Fsdp) << static_cast<int>(PrecisionMode::Fp16Mixed) << true
            << true;
        QTest::addRow("fsdp, bf16-true, in shards")
            << static_cast<int>(StrategyKind::Fsdp) << static_cast<int>(PrecisionMode::Bf16True) << false
            << true;
    }
    void aResumedRunHasTheBitsOfOneThatNeverStopped()
    {
        QFETCH(const int, strategy);
        QFETCH(const int, precision);
        QFETCH(const bool, transformer);
        QFETCH(const bool, sharded);
        auto plan =
            planOf(static_cast<StrategyKind>(strategy), static_cast<PrecisionMode>(precision), transformer);
        plan.checkpoints.sharded = sharded;
        RealRun whole(plan);
        QVERIFY(whole.run->wait(60s));
        QVERIFY2(whole.run->state() == RunState::Finished, whole.run->summary().message.c_str());
        auto half = plan;
        half.maxSteps = kStop;
        RealRun first(half);
        QVERIFY(first.run->wait(60s));

        RealRun second(plan, {}, first.end());

        QVERIFY(second.run->wait(60s));
        QVERIFY2(second.run->state() == RunState::Finished, second.run->summary().message.c_str());
        QCOMPARE(second.run->summary().steps, kEnd);
        QCOMPARE(messagesOf(second.run->folder(), "not_carried"), QStringList());
        const auto bits = deterministicBits(whole.run->folder());
        const auto again = deterministicBits(second.run->folder());
        QCOMPARE(again.at({"loss", -1}).size(), static_cast<std::size_t>(kEnd - kStop));
        QCOMPARE(firstDifference(bits, again, kStop), QString());
        const auto a = readCheckpoint(whole.end().checkpoint);
        const auto b = readCheckpoint(second.end().checkpoint);
        QVERIFY(a && b);
        QCOMPARE(a->json, b->json);
        QCOMPARE(a->tensors.size(), b->tensors.size());
        for (const auto& [name, tensor] : a->tensors)
            QVERIFY2(at::equal(tensorNamed(b->tensors, name), tensor), name.c_str());
    }

    void theNewRunKnowsItsParentAndBothStay()
    {
        auto plan = smallPlan(StrategyKind::Ddp, 2);
        plan.maxSteps = 6;
        RealRun first(plan);
        QVERIFY(first.run->wait(20s));
        plan.maxSteps = 8;

        RealRun second(plan, {}, first.end());

        QVERIFY(second.run->wait(20s));
        const auto row = *(*RunReader::open(second.run->folder()))->summary();
        QCOMPARE(row.parentRun, first.run->id());
        QCOMPARE(row.parentStep, std::int64_t{5});
        QCOMPARE(messagesOf(second.run->folder(), "resumed").size(), 1);
        QCOMPARE((*RunReader::open(first.run->folder()))->summary()->steps, std::int64_t{6});
        QVERIFY(readCheckpoint(first.end().checkpoint));
    }

    void aCheckpointGoesIntoAnotherWorldSizeStrategyAndPrecision_data()
    {
        QTest::addColumn<int>("before");
        QTest::addColumn<int>("ranksBefore");
        QTest::addColumn<bool>("sharded");
        QTest::addColumn<int>("after");
        QTest::addColumn<int>("ranksAfter");
        QTest::addColumn<int>("precision");
        const auto row = [](const char* name, StrategyKind before, int ranksBefore, bool sharded,
                            StrategyKind after, int ranksAfter, PrecisionMode precision) {
            QTest::addRow("%s", name) << static_cast<int>(before) << ranksBefore << sharded
                                      << static_cast<int>(after) << ranksAfter << static_cast<int>(precision);
        };
        using enum StrategyKind;
        row("4 ranks of fsdp to 2", Fsdp, 4, false, Fsdp, 2, PrecisionMode::Fp16Mixed);
        row("2 ranks of fsdp in shards to 4", Fsdp, 2, true, Fsdp, 4, PrecisionMode::Fp16Mixed);
        row("fsdp in shards to ddp", Fsdp, 4, true, Ddp, 2, PrecisionMode::Fp16Mixed);
        row("ddp to one rank", Ddp, 2, false, Single, 1, PrecisionMode::Fp16Mixed);
        row("ddp to 4 ranks of zero1", Ddp, 2, false, Zero1, 4, PrecisionMode::Fp16Mixed);
        row("zero1 to fsdp", Zero1, 2, false, Fsdp, 4, PrecisionMode::Fp16Mixed);
        row("fsdp in shards to fsdp2", Fsdp, 4, true, Fsdp2, 2, PrecisionMode::Fp16Mixed);
        row("one rank to fsdp in bf16", Single, 1, false, Fsdp, 2, PrecisionMode::Bf16Mixed);
    }
    void aCheckpointGoesIntoAnotherWorldSizeStrategyAndPrecision()
    {
        QFETCH(const int, before);
        QFETCH(const int, ranksBefore);
        QFETCH(const bool, sharded);
        QFETCH(const int, after);
        QFETCH(const int, ranksAfter);
        QFETCH(const int, precision);
        auto plan = scaledPlan(static_cast<StrategyKind>(before), ranksBefore);
        plan.maxSteps = 6;
        plan.checkpoints.sharded = sharded;
        RealRun first(plan);
        QVERIFY(first.run->wait(20s));
        auto changed = scaledPlan(static_cast<StrategyKind>(after), ranksAfter);
        changed.precision = static_cast<PrecisionMode>(precision);
        changed.scaler.enabled = changed.precision == PrecisionMode::Fp16Mixed;
        changed.maxSteps = 6;
        const auto stored = readCheckpoint(first.end().checkpoint);
        QVERIFY2(stored, stored ? "" : stored.error().message.c_str());

        // Before any step: what the trainer holds is what the checkpoint has.
        auto prepared = prepareRun(changed, first.end().checkpoint);
        QVERIFY2(prepared, prepared ? "" : prepared.error().message.c_str());
        TrainerState now;
        runRanks(ranksAfter, [&](Communicator& comm) {
            Trainer trainer(*prepared, comm);
            auto state = trainer.state();
            if (comm.rank() == 0)
                now = std::move(state);
        });
        int compared = 0;
        for (const auto& [name, tensor] : stored->tensors) {
            if (!name.starts_with("model.") && !name.starts_with("optimizer."))
                continue;
            QVERIFY2(at::equal(tensorNamed(now.tensors, name), tensor), name.c_str());
            ++compared;
        }
        QVERIFY(compared >= 18);
        changed.maxSteps = 12;
        RealRun second(changed, {}, first.end());
        QVERIFY(second.run->wait(20s));

        QVERIFY2(second.run->state() == RunState::Finished, second.run->summary().message.c_str());
        QVERIFY(*valueAt(second.run->folder(), "loss", 11) < *valueAt(first.run->folder(), "loss", 0));
        const auto said = messagesOf(second.run->folder(), "not_carried").join(" ");
        QVERIFY2(said.contains("from here on"), qPrintable(said));
        QCOMPARE(said.contains("loss scale"), changed.precision == PrecisionMode::Bf16Mixed);
    }

    void checkpointsComeEverySoManyStepsAndTheNewestStay()
    {
        auto plan = scaledPlan(StrategyKind::Fsdp, 2);
        plan.maxSteps = 20;
        plan.faults = {
            {6, 0, FaultKind::Stall, 0.2}, {11, 0, FaultKind::Stall, 0.2}, {17, 0, FaultKind::Stall, 0.2}};
        plan.checkpoints.everySteps = 5;
        plan.checkpoints.keepLast = 2;
        RealRun real(plan);
        QVERIFY(real.run->wait(20s));

        QCOMPARE(foldersOf(real), (QStringList{"step-000000015", "step-000000020"}));
        QStringList kept;
        const auto records = (*RunReader::open(real.run->folder()))->checkpoints();
        for (const auto& record : *records)
            kept << QStringLiteral("%1%2").arg(record.step).arg(record.kept ? "" : " gone");
        QCOMPARE(kept, (QStringList{"4 gone", "9 gone", "14", "19"}));
        // One on the way is as good as one at the end.
        ResumePoint middle{real.run->folder() / "checkpoints" / "step-000000015", real.run->id(), 14};
        RealRun again(plan, {}, middle);
        QVERIFY(again.run->wait(20s));
        QCOMPARE(
            firstDifference(deterministicBits(again.run->folder()), deterministicBits(real.run->folder())),
            QString());
    }

    void theBestStayBesides()
    {
        auto plan = smallPlan(StrategyKind::Single, 1);
        plan.maxSteps = 16;
        plan.checkpoints.everySteps = 4;
        plan.checkpoints.monitor = "lr";
        plan.checkpoints.mostIsBest = true;
        plan.schedule.kind = ScheduleKind::Step; // The rate is highest in the first steps.
        plan.schedule.stepSize = 2;
        plan.schedule.gamma = 0.5;
        for (const std::int64_t step : {5, 9, 13})
            plan.faults.push_back({step, 0, FaultKind::Stall, 0.2});
        RealRun real(plan);
        QVERIFY(real.run->wait(20s));

        QCOMPARE(foldersOf(real), (QStringList{"step-000000004", "step-000000016"}));
    }

    void aSeriesThatNobodyRecordsCannotBeWatched()
    {
        RunRequest request;
        request.plan = smallPlan(StrategyKind::Single, 1);
        request.plan.checkpoints.monitor = "bliss";
        const QTemporaryDir folder;
        request.history = folder.path().toStdString();

        const auto run = makeLocalService()->start(request);

        QVERIFY(!run);
        QVERIFY2(run.error().message.find("bliss") != std::string::npos, run.error().message.c_str());
        QVERIFY(run.error().hint.find("loss") != std::string::npos);
    }

    void whatIsNoCheckpointIsAFailureWithItsReason_data()
    {
        QTest::addColumn<QString>("how");
        QTest::addColumn<QString>("word");
        QTest::newRow("gone") << "gone"
                              << "holds no checkpoint";
        QTest::newRow("another model") << "model"
                                       << "the model needs";
        QTest::newRow("a wrong step") << "step"
                                      << "the history says";
        QTest::newRow("nothing left") << "nothing"
                                      << "are made already";
    }
    void whatIsNoCheckpointIsAFailureWithItsReason()
    {
        QFETCH(const QString, how);
        QFETCH(const QString, word);
        auto plan = smallPlan(StrategyKind::Single, 1);
        plan.maxSteps = 3;
        RealRun first(plan);
        QVERIFY(first.run->wait(20s));
        auto from = first.end();
        plan.maxSteps = how == "nothing" ? 3 : 6;
        if (how == "gone")
            std::filesystem::remove_all(from.checkpoint);
        else if (how == "model")
            plan.model = MlpPlan{64, 40, 10, 3};
        else if (how == "step")
            from.parentStep = 1;

        RealRun second(plan, {}, from);

        QVERIFY(second.run->wait(20s));
        QCOMPARE(second.run->state(), RunState::Failed);
        const auto message = QString::fromStdString(second.run->summary().message);
        QVERIFY2(message.contains(word), qPrintable(message));
    }
};

QTEST_GUILESS_MAIN(TestResume)
#include "tst_resume.moc"
