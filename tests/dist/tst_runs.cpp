#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/comm/nccl_library.h"
#include "engine/history/run_reader.h"
#include "engine/model/model.h"
#include "tests/support/real_runs.h"
#include "tests/support/stored_bits.h"

#include <QtTest>

#include <cmath>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

double largestRelativeDifference(const TrainerState& a, const TrainerState& b)
{
    double largest = 0.0;
    for (const auto& [name, tensor] : b.tensors) {
        if (!name.starts_with("model."))
            continue;
        const auto wanted = tensor.to(at::kDouble);
        const auto scale = wanted.abs().clamp_min(wanted.square().mean().sqrt().item<double>());
        const auto other = tensorNamed(a.tensors, name).to(at::kDouble);
        largest = std::max(largest, ((other - wanted).abs() / scale).max().item<double>());
    }
    return largest;
}

std::uint64_t parameterBytes(const ModelPlan& plan, int unit)
{
    const auto model = makeModel(plan, 0, 0);
    std::uint64_t bytes = 0;
    for (const auto& spec : model->parameters()) {
        std::uint64_t elements = 4;
        for (const auto extent : spec.shape)
            elements *= static_cast<std::uint64_t>(extent);
        bytes += unit < 0 || spec.unit == unit ? elements : 0;
    }
    return bytes;
}

RunPlan transformerPlan(StrategyKind strategy, int ranks)
{
    TransformerPlan model;
    model.context = 16;
    model.width = 64;
    model.heads = 4;
    model.layers = 3;
    return tokenPlan(strategy, ranks, model, 256);
}

} // namespace

class TestRuns : public QObject {
    Q_OBJECT

private slots:
    void twoRunsWithOneSeedHaveTheSameBits_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("threads");
        QTest::addColumn<bool>("scaled");
        for (const bool scaled : {false, true}) {
            const char* name = scaled ? "16-mixed" : "fp32";
            QTest::addRow("ddp, 2 ranks, %s", name)
                << static_cast<int>(StrategyKind::Ddp) << 2 << 1 << scaled;
            QTest::addRow("fsdp, 2 ranks, %s", name)
                << static_cast<int>(StrategyKind::Fsdp) << 2 << 1 << scaled;
            QTest::addRow("fsdp2, 2 ranks, %s", name)
                << static_cast<int>(StrategyKind::Fsdp2) << 2 << 1 << scaled;
            QTest::addRow("zero1, 2 ranks, %s", name)
                << static_cast<int>(StrategyKind::Zero1) << 2 << 1 << scaled;
            QTest::addRow("single, 2 threads, %s", name)
                << static_cast<int>(StrategyKind::Single) << 1 << 2 << scaled;
        }
    }
    void twoRunsWithOneSeedHaveTheSameBits()
    {
        QFETCH(const int, strategy);
        QFETCH(const int, ranks);
        QFETCH(const int, threads);
        QFETCH(const bool, scaled);
        auto plan = (scaled ? scaledPlan : smallPlan)(static_cast<StrategyKind>(strategy), ranks);
        plan.threadsPerRank = threads;
        plan.clip = {ClipKind::Norm, 0.5, 2.0};
        RealRun first(plan);
        QVERIFY(first.run->wait(60s));
        QVERIFY2(first.run->state() == RunState::Finished, first.run->summary().message.c_str());
        RealRun second(plan);
        QVERIFY(second.run->wait(60s));

        const auto bits = deterministicBits(first.run->folder());

        QVERIFY(bits.size() >= 9);
        QCOMPARE(bits.at({"loss", -1}).size(), std::size_t{20});
        QCOMPARE(firstDifference(bits, deterministicBits(second.run->folder())), QString());
        plan.seed += 1;
        RealRun other(plan);
        QVERIFY(other.run->wait(60s));
        QVERIFY(bits.at({"loss", -1}) != deterministicBits(other.run->folder()).at({"loss", -1}));
    }

    void twoRanksTrainAsOneOnTheJointBatch_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("transformer");
        for (const bool transformer : {false, true}) {
            for (const int ranks : {2, 4}) {
                const char* model = transformer ? "transformer" : "mlp";
                QTest::addRow("ddp, %d ranks, %s", ranks, model)
                    << static_cast<int>(StrategyKind::Ddp) << ranks << transformer;
                for (const auto& [name, strategy] :
                     {std::pair("fsdp", StrategyKind::Fsdp), std::pair("fsdp2", StrategyKind::Fsdp2),
                      std::pair("zero1", StrategyKind::Zero1)})
                    QTest::addRow("%s, %d ranks, %s", name, ranks, model)
                        << static_cast<int>(strategy) << ranks << transformer;
            }
        }
    }
    void twoRanksTrainAsOneOnTheJointBatch()
    {
        QFETCH(const int, strategy);
        QFETCH(const int, ranks);
        QFETCH(const bool, transformer);
        const auto make = transformer ? transformerPlan : smallPlan;
        const auto one = trainBare(make(StrategyKind::Single, 1));

        const auto many = trainBare(make(static_cast<StrategyKind>(strategy), ranks));

        const double difference = largestRelativeDifference(many, one);
        QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
    }

    void parameterMemoryStaysInItsBound_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("transformer");
        for (const int ranks : {2, 4}) {
            QTest::addRow("mlp, %d ranks", ranks) << ranks << false;
            QTest::addRow("transformer, %d ranks", ranks) << ranks << true;
        }
    }
    void parameterMemoryStaysInItsBound()
    {
        QFETCH(const int, ranks);
        QFETCH(const bool, transformer);
        auto plan = (transformer ? transformerPlan : smallPlan)(StrategyKind::Fsdp, ranks);
        plan.maxSteps = 3;
        const int units = makeModel(plan.model, 0, 0)->unitCount();
        std::uint64_t largest = 0;
        for (int unit = 0; unit < units; ++unit)
            largest = std::max(largest, parameterBytes(plan.model, unit));
        const double share = static_cast<double>(parameterBytes(plan.model, -1)) / ranks;
        RealRun real(plan);
        QVERIFY(real.run->wait(60s));
        const auto reader = RunReader::open(real.run->folder());

        for (int rank = 0; rank < ranks; ++rank) {
            const auto points = (*reader)->points({"memory", "B", rank, "train", false});
            QVERIFY(points && !points->value.empty());
            QVERIFY2(points->value.back() <= 1.15 * (share + static_cast<double>(largest)),
                     qPrintable(QString::number(points->value.back())));
            QVERIFY(points->value.back() >= share);
        }
    }

    void aStoppedRunLeavesACheckpointThatIsRead_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("ranks");
        QTest::addRow("single") << static_cast<int>(StrategyKind::Single) << 1;
        QTest::addRow("ddp") << static_cast<int>(StrategyKind::Ddp) << 2;
        QTest::addRow("fsdp") << static_cast<int>(StrategyKind::Fsdp) << 2;
    }
    void aStoppedRunLeavesACheckpointThatIsRead()
    {
        QFETCH(const int, strategy);
        QFETCH(const int, ranks);
        auto plan = scaledPlan(static_cast<StrategyKind>(strategy), ranks);
        plan.maxSteps = -1;
        RealRun real(plan);
        QTRY_VERIFY(real.run->progress().step > 5);
        real.run->pause();
        QTRY_COMPARE(real.run->state(), RunState::Paused);
        real.run->resume();
        QTRY_COMPARE(real.run->state(), RunState::Running);

        real.run->stop();

        QVERIFY(real.run->wait(30s));
        const auto summary = real.run->summary();
        QVERIFY2(summary.state == RunState::Stopped, summary.message.c_str());
        const auto checkpoints = (*RunReader::open(real.run->folder()))->checkpoints();
        QCOMPARE(checkpoints->size(), std::size_t{1});
        const auto state = readCheckpoint(real.run->folder() / checkpoints->front().path);
        QVERIFY2(state, state ? "" : state.error().message.c_str());
        plan.maxSteps = summary.steps;
        const auto again = trainBare(plan);
        for (const auto& [name, tensor] : again.tensors)
            QVERIFY2(at::equal(tensorNamed(state->tensors, name), tensor), name.c_str());
        QCOMPARE(state->json, again.json);
    }

    void anInjectedThrowNamesItsRank_data()
    {
        QTest::addColumn<int>("rank");
        QTest::addRow("rank 0") << 0;
        QTest::addRow("rank 1") << 1;
    }
    void anInjectedThrowNamesItsRank()
    {
        QFETCH(const int, rank);
        auto plan = smallPlan(StrategyKind::Fsdp, 2);
        plan.faults = {{6, rank, FaultKind::Throw}};
        RealRun real(plan);

        QVERIFY(real.run->wait(20s));

        const auto summary = real.run->summary();
        QCOMPARE(summary.state, RunState::Failed);
        QVERIFY2(summary.message.starts_with("Rank " + std::to_string(rank) + " failed at "),
                 summary.message.c_str());
        QVERIFY2(summary.message.find(" in step 6: ") != std::string::npos, summary.message.c_str());
        QCOMPARE(summary.steps, std::int64_t{6});
        QVERIFY(!real.run->leftRanksBehind());
    }

    void anInjectedStallEndsByTimeOut()
    {
        auto plan = smallPlan(StrategyKind::Ddp, 2);
        plan.faults = {{4, 1, FaultKind::Stall, 30.0}};
        SessionOptions options;
        options.collectiveTimeout = 300ms;
        RealRun real(plan, options);

        QVERIFY(real.run->wait(20s));

        const auto summary = real.run->summary();
        QCOMPARE(summary.state, RunState::Failed);
        QVERIFY2(summary.message.starts_with("Rank 1 failed at "), summary.message.c_str());
        QVERIFY2(summary.message.find("did not come to a collective within 300 ms") != std::string::npos,
                 summary.message.c_str());
        QVERIFY(!real.run->leftRanksBehind());
    }

    void ncclWithoutAGpuIsAFailureWithAWayOut()
    {
        if (NcclLibrary::find().problem.empty())
            QSKIP("there is NCCL and a GPU here");
        auto plan = smallPlan(StrategyKind::Ddp, 2);
        plan.comm = CommKind::Nccl;
        RealRun real(plan);

        QVERIFY(real.run->wait(20s));

        const auto summary = real.run->summary();
        QCOMPARE(summary.state, RunState::Failed);
        QVERIFY2(summary.message.starts_with("NCCL cannot carry data here: no "), summary.message.c_str());
        QVERIFY2(summary.hint.find("mantissa.communicator to threads") != std::string::npos,
                 summary.hint.c_str());
    }

    void theMemoryOfARankIsToldBesideItsEstimate()
    {
        auto plan = smallPlan(StrategyKind::Fsdp, 2);
        plan.maxSteps = 2;
        RealRun real(plan);
        QVERIFY(real.run->wait(20s));
        const auto events = (*RunReader::open(real.run->folder()))->events();
        int told = 0;
        for (const auto& event : *events) {
            if (event.kind != "memory")
                continue;
            ++told;
            QVERIFY2(event.message.find("weights ") != std::string::npos, event.message.c_str());
            QVERIFY2(event.message.find("optimizer state ") != std::string::npos, event.message.c_str());
            QVERIFY2(event.message.find("Not counted: activations") != std::string::npos,
                     event.message.c_str());
        }
        QCOMPARE(told, 1);
    }

    void missingDataIsAFailureWithAWayOut()
    {
        auto plan = smallPlan(StrategyKind::Ddp, 2);
        plan.data = FashionMnistPlan{"/nowhere/at/all", true};
        RealRun real(plan);
        RunStateEvent last;
        const auto subscription =
            real.run->onStateChanged([&last](const RunStateEvent& event) { last = event; });

        QVERIFY(real.run->wait(20s));

        QCOMPARE(real.run->state(), RunState::Failed);
        QVERIFY2(real.run->summary().message.find("/nowhere/at/all") != std::string::npos,
                 real.run->summary().message.c_str());
        QVERIFY2(real.run->summary().hint.find("train-images-idx3-ubyte") != std::string::npos,
                 real.run->summary().hint.c_str());
        QCOMPARE(last.hint, real.run->summary().hint);
    }

    void aFrozenNameThatFitsNoWeightIsSaidBeforeTheStart()
    {
        auto plan = smallPlan(StrategyKind::Ddp, 2);
        plan.frozen = {"fc1.", "fx2."};
        RealRun real(plan);

        QVERIFY(real.run->wait(20s));

        QCOMPARE(real.run->state(), RunState::Failed);
        QVERIFY2(real.run->summary().message.starts_with("mantissa.frozen names 'fx2.'"),
                 real.run->summary().message.c_str());
        QVERIFY(real.run->summary().hint.find("fc1.weight") != std::string::npos
                || real.run->summary().hint.starts_with("The model has "));
        const auto events = (*RunReader::open(real.run->folder()))->events();
        const auto failure = std::find_if(events->begin(), events->end(),
                                          [](const RunEvent& event) { return event.kind == "failure"; });
        QVERIFY(failure != events->end());
        QCOMPARE(failure->detail, std::string(R"({"code":"invalid_setup"})"));
    }

    void aFailureMadeOnPurposeSaysSo()
    {
        auto plan = smallPlan(StrategyKind::Ddp, 2);
        plan.faults = {{2, 1, FaultKind::Throw}};
        RealRun real(plan);

        QVERIFY(real.run->wait(20s));

        const auto events = (*RunReader::open(real.run->folder()))->events();
        const auto failure = std::find_if(events->begin(), events->end(),
                                          [](const RunEvent& event) { return event.kind == "failure"; });
        QVERIFY(failure != events->end());
        QCOMPARE(failure->detail, std::string(R"({"code":"internal","on_purpose":true})"));
        QVERIFY(real.run->summary().hint.find("mantissa.inject") != std::string::npos);
    }

    void runsMayBeDroppedWhileTheyTrain()
    {
        for (int attempt = 0; attempt < 8; ++attempt) {
            auto plan = scaledPlan(StrategyKind::Fsdp, 2);
            plan.maxSteps = -1;
            RealRun real(plan);
            const auto folder = real.run->folder();
            std::this_thread::sleep_for(std::chrono::milliseconds(9 * attempt));

            real.run.reset();

            QCOMPARE((*RunReader::open(folder))->summary()->state, RunState::Stopped);
        }
    }
};

QTEST_GUILESS_MAIN(TestRuns)
#include "tst_runs.moc"
