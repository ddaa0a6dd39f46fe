#include "tests/support/sharded_training.h"

#include <QtTest>

using namespace mantissa;

namespace {

std::vector<UnitSize> unitsOf(const Model& model)
{
    std::vector<UnitSize> units(static_cast<std::size_t>(model.unitCount()));
    for (int unit = 0; unit < model.unitCount(); ++unit)
        units[static_cast<std::size_t>(unit)].name = model.unitName(unit);
    for (const auto& spec : model.parameters())
        units[static_cast<std::size_t>(spec.unit)].weights.push_back(c10::multiply_integers(spec.shape));
    return units;
}

MemoryQuestion questionOf(const SmallTraining& training, const Model& model)
{
    MemoryQuestion question;
    question.units = unitsOf(model);
    const auto options = shardOptionsFor(training, training.ranks);
    question.shards = options.plan;
    question.strategy = training.kind == Kind::Replica ? StrategyKind::Ddp
        : training.kind == Kind::Zero1                 ? StrategyKind::Zero1
                                                       : StrategyKind::Fsdp;
    question.ranks = training.ranks;
    question.storedBytes = at::elementSize(training.dtypes.stored);
    question.paramBytes = at::elementSize(training.dtypes.param);
    question.reduceBytes = at::elementSize(training.dtypes.reduce);
    question.stateBytes = 0; // plain SGD here
    question.passes = training.microBatches;
    question.rootAround = training.tokens; // only the model of tokens has such a root
    question.gradientViews = training.ddp.gradientViews;
    return question;
}

std::string text(const MemoryTerms& terms)
{
    return "kept " + std::to_string(terms.parameters) + ", gathered " + std::to_string(terms.gathered)
        + ", gradients " + std::to_string(terms.gradients) + ", on their way "
        + std::to_string(terms.reduction);
}

} // namespace

class TestMemory : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { at::set_num_threads(1); }

    void theEstimateIsWhatIsMeasured_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("variant");
        for (const auto kind : kKinds) {
            const char* names[] = {"plain", "16-bit weights", "window of 3",
                                   "ahead", "all ahead",      "whole model"};
            for (int variant = 0; variant < 6; ++variant)
                QTest::addRow("%s, %s", nameOf(kind), names[variant]) << static_cast<int>(kind) << variant;
        }
    }
    void theEstimateIsWhatIsMeasured()
    {
        QFETCH(const int, kind);
        QFETCH(const int, variant);
        SmallTraining training;
        training.kind = static_cast<Kind>(kind);
        training.ranks = 4;
        training.steps = 2;
        const bool gathers = training.kind != Kind::Replica && training.kind != Kind::Zero1;
        if (variant == 1 && gathers)
            training.dtypes = {at::kFloat, at::kBFloat16, at::kFloat};
        training.microBatches = variant == 2 ? 3 : variant == 7 ? 2 : 1;
        training.tokens = variant == 6;
        training.shards.ahead = variant == 3 || variant == 4 ? GatherAhead::Pre : GatherAhead::None;
        training.shards.limitAhead = variant != 4;
        training.shards.wrap = variant == 5 ? UnitWrap::Whole : UnitWrap::Block;
        training.model = [] {
            return std::make_unique<LayersModel>(std::vector<std::int64_t>{33, 64, 80, 48, 64, 5});
        };
        if (variant == 6)
            training.model = [] { return std::make_unique<SandwichModel>(20, 64, false, false); };
        const auto wanted = estimateMemory(questionOf(training, *training.model()));
        std::array<MemoryTerms, 4> measured;
        training.afterReduce = [&](Strategy& strategy, int) {
            measured[static_cast<std::size_t>(strategy.communicator().rank())] = strategy.memory();
        };
        train(training);

        for (const auto& terms : measured)
            QVERIFY2(terms == wanted, ("measured: " + text(terms) + "; estimated: " + text(wanted)).c_str());
    }

    void aShardedModelIsNeverWholeWhileItIsMade()
    {
        runRanks(4, [](Communicator& comm) {
            SmallTraining training;
            training.kind = Kind::Fsdp;
            const LayersModel model({200, 150, 160, 140, 10});
            std::size_t next = 0;
            c10::weak_intrusive_ptr<c10::TensorImpl> before(
                c10::intrusive_ptr<c10::TensorImpl>(at::empty({0}).unsafeReleaseIntrusivePtr()));
            const ShardedStrategy strategy(
                model,
                [&](std::size_t index) {
                    require(index == next++, "in the order of the model");
                    require(before.expired(), "the one before is gone");
                    const auto weight = at::full(model.parameters()[index].shape, static_cast<double>(index));
                    before = c10::weak_intrusive_ptr<c10::TensorImpl>(weight.getIntrusivePtr());
                    return weight;
                },
                shardOptionsFor(training, comm.size()), comm);
            require(next == model.parameters().size(), "all of them");
            std::uint64_t whole = 0;
            for (const auto& spec : model.parameters())
                whole += 4 * static_cast<std::uint64_t>(c10::multiply_integers(spec.shape));
            require(strategy.peakParameterBytes() <= whole * 3 / 10, "a quarter and some padding");
        });
    }

    void aFrozenUnitIsGivenBackAfterItsBackward()
    {
        SmallTraining training;
        training.kind = Kind::Fsdp;
        training.ranks = 4;
        training.steps = 2;
        training.model = [] {
            return std::make_unique<LayersModel>(std::vector<std::int64_t>{128, 128, 128, 128, 128, 128, 8});
        };
        training.frozen = {"fc2.", "fc3.", "fc4.", "fc5."};
        std::uint64_t gathered = 0;
        training.afterReduce = [&](Strategy& strategy, int) {
            if (strategy.communicator().rank() == 0)
                gathered = strategy.memory().gathered;
        };
        train(training);

        const std::uint64_t one = 4 * (128 * 128 + 128);
        QVERIFY2(gathered >= one && gathered < 2 * one,
                 std::to_string(gathered).c_str()); // a unit, and the root at most
    }

    void fetchingAheadCostsAUnitAndWithoutLimitAll()
    {
        const auto peak = [](GatherAhead ahead, bool limit) {
            SmallTraining training;
            training.kind = Kind::Fsdp;
            training.ranks = 2;
            training.steps = 2;
            training.shards.ahead = ahead;
            training.shards.limitAhead = limit;
            training.model = [] {
                return std::make_unique<LayersModel>(std::vector<std::int64_t>{64, 64, 64, 64, 64, 8});
            };
            std::uint64_t bytes = 0;
            training.afterReduce = [&](Strategy& strategy, int) {
                if (strategy.communicator().rank() == 0)
                    bytes = strategy.memory().gathered;
            };
            train(training);
            return bytes;
        };
        const std::uint64_t unit = 4 * (64 * 64 + 64);
        const auto none = peak(GatherAhead::None, true);
        QCOMPARE(peak(GatherAhead::Pre, true), none + unit);
        QCOMPARE(peak(GatherAhead::Pre, false), none + 3 * unit);
    }
};

QTEST_APPLESS_MAIN(TestMemory)
#include "tst_memory.moc"
