#include "engine/numerics/number_format.h"
#include "engine/precision/fp8_linears.h"
#include "engine/precision/precision.h"
#include "engine/train/trainer_state.h"
#include "tests/support/real_runs.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;

namespace {

using Matrix = std::vector<std::vector<double>>;

double onGrid(double value, double scale, const NumberFormat& format)
{
    const auto scaled = static_cast<float>(value) * static_cast<float>(scale);
    return static_cast<double>(roundedTo(scaled, format, Overflow::Saturate)) / scale;
}

Matrix onGrid(const Matrix& matrix, double scale, const NumberFormat& format)
{
    Matrix rounded = matrix;
    for (auto& row : rounded)
        for (auto& value : row)
            value = onGrid(value, scale, format);
    return rounded;
}

at::Tensor tensorOf(const Matrix& matrix)
{
    const auto columns = static_cast<std::int64_t>(matrix.front().size());
    const at::Tensor tensor = at::empty({static_cast<std::int64_t>(matrix.size()), columns}, at::kFloat);
    for (std::int64_t row = 0; row < tensor.size(0); ++row)
        for (std::int64_t column = 0; column < columns; ++column)
            tensor[row][column] = matrix[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    return tensor;
}

/// a · bᵀ in doubles.
Matrix product(const Matrix& a, const Matrix& b)
{
    Matrix result(a.size(), std::vector<double>(b.size(), 0.0));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            for (std::size_t k = 0; k < a[i].size(); ++k)
                result[i][j] += a[i][k] * b[j][k];
    return result;
}

Matrix transposed(const Matrix& a)
{
    Matrix result(a.front().size(), std::vector<double>(a.size(), 0.0));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[i].size(); ++j)
            result[j][i] = a[i][j];
    return result;
}

void compareWithHand(const at::Tensor& tensor, const Matrix& wanted)
{
    QVERIFY(tensor.defined());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        for (std::size_t j = 0; j < wanted[i].size(); ++j) {
            // The last bit of fp32, in which the sum is made.
            const double got =
                tensor[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)].item<double>();
            QVERIFY2(std::abs(got - wanted[i][j]) <= std::abs(wanted[i][j]) * std::ldexp(1.0, -23),
                     qPrintable(QString("%1 for %2").arg(got, 0, 'g', 12).arg(wanted[i][j], 0, 'g', 12)));
        }
}

const Matrix kX = {{0.1, -3.5, 1.0 / 3.0}, {0.03, 2.7, -0.8}};
const Matrix kW = {{1.75, 0.3, -0.06}, {-0.9, 0.001, 1.2}};
const Matrix kG = {{7e-5, -1.75}, {0.2, 1e-7}};

struct Pass {
    at::Tensor y, x, w, bias;
};

Pass pass(Fp8Linears& linears, const Matrix& x, const Matrix& w, const Matrix& g)
{
    Pass pass;
    pass.x = tensorOf(x).set_requires_grad(true);
    pass.w = tensorOf(w).set_requires_grad(true);
    pass.bias = at::full({pass.w.size(0)}, 0.5).set_requires_grad(true);
    pass.y = linears.apply("fc", pass.x, pass.w, pass.bias);
    torch::autograd::backward({pass.y}, {tensorOf(g)});
    return pass;
}

void checkByHand(const Pass& pass, double scaleX, double scaleW, double scaleG)
{
    const Matrix x = onGrid(kX, scaleX, kE4m3);
    const Matrix w = onGrid(kW, scaleW, kE4m3);
    const Matrix g = onGrid(kG, scaleG, kE5m2);
    Matrix y = product(x, w);
    for (auto& row : y)
        for (auto& value : row)
            value += 0.5;
    compareWithHand(pass.y, y);
    compareWithHand(pass.x.grad(), product(g, transposed(w)));
    compareWithHand(pass.w.grad(), product(transposed(g), transposed(x)));
    // The gradient of the bias goes through no product.
    QCOMPARE(pass.bias.grad()[0].item<float>(), 7e-5F + 0.2F);
}

class OneRank {
public:
    Communicator& communicator() { return *m_communicator; }

private:
    ThreadGroup m_group{1, std::chrono::seconds(5)};
    std::unique_ptr<Communicator> m_communicator = m_group.communicator(0);
};

RunPlan fp8Plan(StrategyKind strategy, bool transformer)
{
    const int ranks = strategy == StrategyKind::Single ? 1 : 2;
    RunPlan plan = smallPlan(strategy, ranks);
    plan.precision = PrecisionMode::Fp8Mixed;
    plan.optimizer = {OptimizerKind::AdamW, OptimizerImpl::Foreach, 2e-3};
    plan.maxSteps = 60;
    if (transformer) {
        TransformerPlan model;
        model.context = 8;
        model.width = 32;
        model.heads = 2;
        model.layers = 2;
        plan.model = model;
        plan.data = SyntheticPlan{"tokens", 8, 256, 96};
        plan.batchSize = 16 / ranks;
    }
    return plan;
}

double lossAtTheEnd(const RunPlan& plan)
{
    double sum = 0.0;
    trainBare(plan, [&](Trainer&, const StepReport& report, int rank) {
        if (rank == 0 && report.step >= plan.maxSteps - 5)
            sum += report.loss / 5.0;
    });
    return sum;
}

NamedTensors scalesOf(const TrainerState& state)
{
    NamedTensors scales;
    for (const auto& [name, tensor] : state.tensors)
        if (name.starts_with(state_name::kFp8))
            scales.emplace_back(name, tensor);
    return scales;
}

bool sameTensors(const NamedTensors& a, const NamedTensors& b)
{
    bool same = a.size() == b.size() && !a.empty();
    for (std::size_t i = 0; same && i < a.size(); ++i)
        same = a[i].first == b[i].first && at::equal(a[i].second, b[i].second);
    return same;
}

double logged(const StepReport& report, const char* series)
{
    for (const auto& value : report.logged)
        if (value.series == series)
            return value.value;
    return -1.0;
}

} // namespace

class TestFp8 : public QObject {
    Q_OBJECT

private slots:
    void castsRoundLikeTheFormatsBitByBit()
    {
        // Every fp16 number, and what is just beside it.
        const at::Tensor codes = at::arange(0, 65536, at::kInt).to(at::kShort);
        const at::Tensor halves = codes.view(at::kHalf).to(at::kFloat);
        const at::Tensor values = at::cat({halves, halves * 1.0001, halves * 0.9999});
        for (const auto& [format, type] :
             {std::pair(kE4m3, at::kFloat8_e4m3fn), std::pair(kE5m2, at::kFloat8_e5m2)}) {
            const at::Tensor cast =
                values.clamp(-format.largest(), format.largest()).to(type).to(at::kFloat).contiguous();
            for (std::int64_t i = 0; i < values.numel(); ++i) {
                const float wanted = roundedTo(values.const_data_ptr<float>()[i], format, Overflow::Saturate);
                const float got = cast.const_data_ptr<float>()[i];
                QVERIFY(got == wanted || (std::isnan(got) && std::isnan(wanted)));
            }
        }
    }

    void aLayerIsExactlyWhatHandsCompute()
    {
        OneRank one;
        Fp8Linears linears({}, one.communicator());

        checkByHand(pass(linears, kX, kW, kG), 1.0, 1.0, 1.0);
        (void)linears.closeStep();
        // The largest values were 3.5, 1.75 and 1.75.
        checkByHand(pass(linears, kX, kW, kG), 128.0, 256.0, 32768.0);
    }

    void lossesAreCountedByKindOfTensor()
    {
        OneRank one;
        Fp8Linears linears({}, one.communicator());
        (void)pass(linears, kX, kW, kG);

        const Fp8Losses first = linears.closeStep();

        // With the scale 1, e4m3 loses what is below 2^-10 and e5m2 what is below 2^-17.
        QCOMPARE(first.of[static_cast<std::size_t>(Fp8Role::Input)].flushed, 0.0);
        QCOMPARE(first.of[static_cast<std::size_t>(Fp8Role::Weight)].flushed, 0.0);
        QCOMPARE(first.of[static_cast<std::size_t>(Fp8Role::Gradient)].flushed, 0.25);
        QCOMPARE(first.of[static_cast<std::size_t>(Fp8Role::Gradient)].saturated, 0.0);
        QVERIFY(first.mostCut.empty());

        const double inf = std::numeric_limits<double>::infinity();
        const Pass grown = pass(linears, {{7.0, -3.5, 1.0}, {inf, 0.0, 1.0}}, kW, {{3.5, -1.75}, {1.0, 1.0}});
        const Fp8Losses second = linears.closeStep();
        QCOMPARE(second.of[static_cast<std::size_t>(Fp8Role::Input)].saturated, 2.0 / 6.0);
        QCOMPARE(second.of[static_cast<std::size_t>(Fp8Role::Gradient)].saturated, 0.25);
        QCOMPARE(second.mostCut, std::string("fc"));
        QCOMPARE(second.cut, 1.0);
        QVERIFY(grown.y.isfinite().all().item<bool>()); // cut to the largest number
        // Inf says nothing about the range.
        QCOMPARE(tensorNamed(linears.state(), "fc.scale")[0].item<float>(), 128.0F);
        QCOMPARE(tensorNamed(linears.state(), "fc.scale")[2].item<float>(), 16384.0F);
    }

    void notANumberStaysOne()
    {
        OneRank one;
        Fp8Linears linears({}, one.communicator());
        const at::Tensor x = at::full({1, 2}, std::numeric_limits<float>::quiet_NaN());
        QVERIFY(linears.apply("fc", x, at::ones({2, 2}), {}).isnan().all().item<bool>());
    }

    void whatNeedsNoGradientLeavesNoTrace()
    {
        OneRank one;
        Fp8Linears linears({}, one.communicator());
        {
            const at::NoGradGuard validation;
            (void)linears.apply("fc", tensorOf(kX), tensorOf(kW), {});
        }
        (void)linears.closeStep();
        QCOMPARE(tensorNamed(linears.state(), "fc.history").numel(), std::int64_t{0});
    }

    void ranksAgreeOnTheLargestValue()
    {
        std::vector<NamedTensors> states(2);
        std::vector<Fp8Losses> losses(2);
        runRanks(2, [&](Communicator& comm) {
            Fp8Linears linears({}, comm);
            const Matrix mine = comm.rank() == 0 ? Matrix{{1.75, 0.0, 0.0}} : Matrix{{0.5, 7.0, 0.0}};
            (void)pass(linears, mine, kW, {{1.0, comm.rank() == 0 ? 1e-7 : 1.0}});
            losses[static_cast<std::size_t>(comm.rank())] = linears.closeStep();
            states[static_cast<std::size_t>(comm.rank())] = linears.state();
        });
        QVERIFY(sameTensors(states[0], states[1]));
        QCOMPARE(tensorNamed(states[0], "fc.scale")[0].item<float>(), 64.0F);
        QCOMPARE(losses[0].of[2].flushed, 0.25); // one of the four elements of both
    }

    void autocastGivesTheCarrierAndNothingElse()
    {
        OneRank one;
        Fp8Linears linears({}, one.communicator());
        const at::Tensor plain = linears.apply("fc", tensorOf(kX), tensorOf(kW), {});
        const AutocastScope autocast(true, at::kBFloat16);
        const at::Tensor low = linears.apply("fc", tensorOf(kX), tensorOf(kW), {});
        QCOMPARE(low.scalar_type(), at::kBFloat16);
        QVERIFY(at::equal(low, plain.to(at::kBFloat16)));
    }

    void itTrainsNearlyAsWellAsBf16_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<bool>("transformer");
        for (const bool transformer : {false, true})
            for (const auto strategy : {StrategyKind::Single, StrategyKind::Ddp, StrategyKind::Zero1,
                                        StrategyKind::Fsdp, StrategyKind::Fsdp2})
                QTest::addRow("%d %s", static_cast<int>(strategy), transformer ? "transformer" : "mlp")
                    << static_cast<int>(strategy) << transformer;
    }
    void itTrainsNearlyAsWellAsBf16()
    {
        QFETCH(int, strategy);
        QFETCH(bool, transformer);
        RunPlan plan = fp8Plan(static_cast<StrategyKind>(strategy), transformer);
        double first = 0.0;
        RunPlan oneStep = plan;
        oneStep.maxSteps = 1;
        trainBare(oneStep, [&](Trainer&, const StepReport& report, int) { first = report.loss; });

        const double fp8 = lossAtTheEnd(plan);
        plan.precision = PrecisionMode::Bf16Mixed;
        const double bf16 = lossAtTheEnd(plan);

        QVERIFY(fp8 != bf16);
        QVERIFY2(std::abs(fp8 - bf16) < 0.05 * (first - bf16) + 0.01,
                 qPrintable(QString("%1 from %2, bf16 %3").arg(fp8).arg(first).arg(bf16)));
    }

    void activationCheckpointingChangesNoBit()
    {
        RunPlan plan = fp8Plan(StrategyKind::Single, true);
        plan.accumulate = {{0, 2}};
        plan.maxSteps = 6;
        std::vector<double> losses;
        const auto note = [&](Trainer&, const StepReport& report, int) {
            losses.push_back(report.loss);
            losses.push_back(logged(report, "fp8_flushed_gradient"));
        };
        const TrainerState kept = trainBare(plan, note);
        const auto plainLosses = std::exchange(losses, {});
        plan.recompute = true;

        const TrainerState again = trainBare(plan, note);

        QCOMPARE(losses, plainLosses);
        QVERIFY(sameTensors(scalesOf(kept), scalesOf(again)));
        for (const auto& [name, tensor] : scalesOf(again))
            if (name.ends_with(".history"))
                QCOMPARE(tensor.size(1), std::int64_t{6}); // one a step
    }

    void saturatedGradientsAreTold()
    {
        RunPlan plan = fp8Plan(StrategyKind::Ddp, false);
        plan.maxSteps = 12;
        plan.faults = {{8, -1, FaultKind::Factor, 64.0}};
        int told = 0;
        double share = -1.0;
        trainBare(plan, [&](Trainer&, const StepReport& report, int rank) {
            for (const auto& note : report.notes)
                told += rank == 0 && note.kind == "fp8_saturated" && !note.layer.empty() ? 1 : 0;
            if (rank == 0 && report.step == 8)
                share = logged(report, "fp8_saturated_gradient");
        });
        QCOMPARE(told, 1);
        QVERIFY(share > 0.0);
    }

    void aHistoryOfTheWrongShapeIsRefused()
    {
        OneRank one;
        Fp8Linears linears({}, one.communicator());
        const NamedTensors state = {{"fc.scale", at::ones({2})}, {"fc.history", at::ones({3, 4})}};
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, linears.restore(state));
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, linears.restore({{"fc.scale", at::ones({3})}}));
    }
};

QTEST_GUILESS_MAIN(TestFp8)
#include "tst_fp8.moc"
