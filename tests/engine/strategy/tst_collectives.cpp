#include "tests/support/counting_communicator.h"
#include "tests/support/sharded_training.h"

#include <nlohmann/json.hpp>

#include <QtTest>

#include <fstream>

using namespace mantissa;

namespace {

using Counts = CountingCommunicator::Counts;

const std::map<std::string, Kind> kEngines = {{"ddp", Kind::Replica},
                                              {"fsdp1 FULL_SHARD", Kind::Fsdp},
                                              {"fsdp1 SHARD_GRAD_OP", Kind::GradOp},
                                              {"fsdp1 NO_SHARD", Kind::NoShard},
                                              {"fsdp2 reshard", Kind::Fsdp2},
                                              {"fsdp2 no reshard", Kind::Fsdp2Kept}};

/// c10d's names of calls in ours.
const std::map<std::string, std::string> kCalls = {{"allgather_", "all-gather"},
                                                   {"_allgather_base_", "all-gather"},
                                                   {"_reduce_scatter_base_", "reduce-scatter"},
                                                   {"allreduce_", "all-reduce"}};

nlohmann::json recorded()
{
    std::ifstream file(TEST_DATA "/golden/comm_counts.json");
    return nlohmann::json::parse(file);
}

Counts wanted(const nlohmann::json& calls)
{
    Counts counts;
    for (const auto& [name, count] : calls.items()) {
        // DDP orders its buckets anew after the first pass and sends that order round; ours are laid out in
        // the order of backward from the start.
        if (name != "broadcast_")
            counts[kCalls.at(name)] += count.get<int>();
    }
    return counts;
}

struct PassCounts {
    Counts forward;
    Counts backward;
};

PassCounts countPass(const SmallTraining& training, Strategy& strategy, Model& model,
                     CountingCommunicator& comm, int index, bool sync)
{
    PassCounts counts;
    strategy.setSync(sync);
    const auto batch = smallBatch(training, model, index, comm);
    comm.take();
    const auto loss = at::cross_entropy_loss(model.forward(batch.input, strategy, true), batch.target);
    counts.forward = comm.take();
    torch::autograd::backward({loss}, {});
    strategy.endOfBackward();
    counts.backward = comm.take();
    return counts;
}

} // namespace

class TestCollectives : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { at::set_num_threads(1); }

    void aPassMakesTheCallsThatPyTorchMakes_data()
    {
        QTest::addColumn<int>("row");
        const auto rows = recorded()["rows"];
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::string name =
                rows[i]["engine"].get<std::string>() + ", " + rows[i]["sync"].get<std::string>();
            QTest::newRow(name.c_str()) << static_cast<int>(i);
        }
        QVERIFY(rows.size() >= 12);
    }
    void aPassMakesTheCallsThatPyTorchMakes()
    {
        QFETCH(const int, row);
        const auto trace = recorded()["rows"][static_cast<std::size_t>(row)];
        SmallTraining training;
        training.kind = kEngines.at(trace["engine"]);
        runRanks(2, [&](Communicator& inner) {
            CountingCommunicator comm(inner);
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            int index = 0;
            for (const auto& batch : trace["batches"]) {
                const bool sync = batch["synced"];
                const auto counts = countPass(training, *strategy, *model, comm, index++, sync);
                const std::string where = "batch " + std::to_string(index - 1);
                require(counts.forward == wanted(batch["forward"]), where + ", forward");
                require(counts.backward == wanted(batch["backward"]), where + ", backward");
                if (!sync)
                    continue;
                strategy->reduceGradients();
                require(comm.take().empty(), "nothing is left to reduce");
                strategy->zeroGradients();
                strategy->endOfStep();
            }
        });
    }

    void theOtherKindsMakeTheCallsThatTheyNeed_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("gathersForward");
        QTest::addColumn<int>("gathersBackward");
        QTest::addColumn<int>("scatters");
        QTest::addColumn<int>("reductions");
        QTest::addColumn<int>("gathersAfter");
        QTest::addRow("hybrid") << static_cast<int>(Kind::Hybrid) << 3 << 2 << 3 << 3 << 0;
        QTest::addRow("hybrid grad-op") << static_cast<int>(Kind::HybridGradOp) << 3 << 0 << 3 << 3 << 0;
        QTest::addRow("zero1") << static_cast<int>(Kind::Zero1) << 0 << 0 << 3 << 0 << 3;
    }
    void theOtherKindsMakeTheCallsThatTheyNeed()
    {
        QFETCH(const int, kind);
        QFETCH(const int, gathersForward);
        QFETCH(const int, gathersBackward);
        QFETCH(const int, scatters);
        QFETCH(const int, reductions);
        QFETCH(const int, gathersAfter);
        SmallTraining training;
        training.kind = static_cast<Kind>(kind);
        runRanks(4, [&](Communicator& inner) {
            CountingCommunicator comm(inner);
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            auto counts = countPass(training, *strategy, *model, comm, 0, true);
            require(counts.forward["all-gather"] == gathersForward, "gathers in forward");
            require(counts.backward["all-gather"] == gathersBackward, "gathers in backward");
            require(counts.backward["reduce-scatter"] == scatters, "reduce-scatters");
            require(counts.backward["all-reduce"] == reductions, "all-reduces over the replicas");
            strategy->reduceGradients();
            strategy->zeroGradients();
            comm.take();
            strategy->endOfStep();
            require(comm.take()["all-gather"] == gathersAfter, "gathers after the step");
        });
    }

    void bucketsAreReducedInsideBackward()
    {
        SmallTraining training;
        training.ddp.bucketMiB = 0.002; // a layer of 50 × 50 fills more than one of these
        runRanks(2, [&](Communicator& inner) {
            CountingCommunicator comm(inner);
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            const auto buckets = static_cast<ReplicaStrategy&>(*strategy).buckets();
            require(buckets > 2, "several buckets");
            strategy->setSync(true);
            const auto batch = smallBatch(training, *model, 0, comm);
            const auto loss =
                at::cross_entropy_loss(model->forward(batch.input, *strategy, true), batch.target);
            comm.take();
            torch::autograd::backward({loss}, {});
            require(comm.take()["all-reduce"] == static_cast<int>(buckets),
                    "all of them before backward ends");
            strategy->endOfBackward();
            require(comm.take().empty(), "and none after it");
        });
    }
};

QTEST_APPLESS_MAIN(TestCollectives)
#include "tst_collectives.moc"
