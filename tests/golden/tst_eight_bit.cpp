#include "engine/checkpoint/safetensors.h"
#include "engine/optim/eight_bit_map.h"
#include "engine/optim/eight_bit_state.h"
#include "engine/optim/optimizer.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <cmath>
#include <fstream>

using namespace mantissa;
using Json = nlohmann::json;

namespace {

std::filesystem::path folder()
{
    return std::filesystem::path(TEST_DATA) / "golden" / "quant8";
}

Json recorded()
{
    std::ifstream in(folder() / "case.json");
    return Json::parse(in);
}

NamedTensors tensorsOf(const std::string& file)
{
    auto tensors = readSafetensors(folder() / file);
    return tensors ? *tensors : NamedTensors{};
}

Quantizer quantizerOf(const std::string& name)
{
    return name == "nearest" ? Quantizer::Nearest : Quantizer::Bins;
}

at::Tensor codesOf(const EightBitState& state)
{
    at::Tensor codes = at::empty({static_cast<std::int64_t>(state.codes().size())}, at::kByte);
    std::copy(state.codes().begin(), state.codes().end(), codes.mutable_data_ptr<std::uint8_t>());
    return codes;
}

OptimizerPlan planOf(const Json& run)
{
    const auto name = run.at("name").get<std::string>();
    const Json& arguments = run.at("kwargs");
    OptimizerPlan plan;
    plan.kind = name == "adamw8bit" ? OptimizerKind::AdamW8bit
        : name == "sgd8bit"         ? OptimizerKind::Sgd8bit
        : name == "lion8bit"        ? OptimizerKind::Lion8bit
                                    : OptimizerKind::Adam8bit;
    plan.impl = OptimizerImpl::ForLoop;
    plan.quantizer = quantizerOf(run.at("quantizer"));
    plan.learningRate = arguments.at("lr");
    plan.weightDecay = arguments.at("weight_decay");
    plan.momentum = arguments.value("momentum", 0.0);
    plan.eps = arguments.value("eps", 1e-8);
    if (arguments.contains("betas")) {
        plan.beta1 = arguments["betas"].at(0);
        plan.beta2 = arguments["betas"].at(1);
    }
    return plan;
}

/// Relative L2 distance.
double apart(const at::Tensor& a, const at::Tensor& b)
{
    return (a.to(at::kDouble) - b.to(at::kDouble)).norm().item<double>()
        / b.to(at::kDouble).norm().item<double>();
}

} // namespace

class TestEightBit : public QObject {
    Q_OBJECT

private slots:
    void theMapsAreThoseOfThePackage_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("signed") << "signed";
        QTest::newRow("unsigned") << "unsigned";
    }
    void theMapsAreThoseOfThePackage()
    {
        QFETCH(QString, name);
        const at::Tensor wanted = tensorNamed(tensorsOf("maps.safetensors"), name.toStdString());
        const DynamicMap map(name == "signed" ? DynamicMap::Sign::Signed : DynamicMap::Sign::Unsigned,
                             Quantizer::Nearest);

        QCOMPARE(wanted.numel(), std::int64_t{256});
        for (std::int64_t i = 0; i < 256; ++i)
            QCOMPARE(map.values()[static_cast<std::size_t>(i)], wanted[i].item<float>());
    }

    void vectorsGetTheRecordedCodes_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("rule");
        const Json all = recorded();
        for (const auto& [name, vector] : all.at("vectors").items()) {
            for (const char* rule : {"nearest", "bnb"})
                QTest::addRow("%s %s", name.c_str(), rule) << QString::fromStdString(name) << rule;
        }
    }
    void vectorsGetTheRecordedCodes()
    {
        QFETCH(QString, name);
        QFETCH(QString, rule);
        const auto vectors = tensorsOf("vectors.safetensors");
        const auto named = [&](const char* what) {
            return tensorNamed(vectors, name.toStdString() + "." + what);
        };
        const DynamicMap map(name.endsWith(".signed") ? DynamicMap::Sign::Signed : DynamicMap::Sign::Unsigned,
                             quantizerOf(rule.toStdString()));
        const at::Tensor input = named("input");

        EightBitState state(map, input.numel(), true);
        state.store(input);

        QVERIFY(at::equal(codesOf(state), named(qPrintable(rule + "_codes"))));
        const at::Tensor largest = named("absmax");
        for (std::int64_t i = 0; i < largest.numel(); ++i)
            QCOMPARE(state.largest()[static_cast<std::size_t>(i)], largest[i].item<float>());
        QVERIFY(at::equal(state.load(), named(qPrintable(rule + "_dequant"))));
    }

    void aTrainingEndsWhereTheRecordedOneDoes_data()
    {
        QTest::addColumn<int>("index");
        const Json runs = recorded().at("runs");
        for (int i = 0; i < static_cast<int>(runs.size()); ++i) {
            const Json& run = runs[static_cast<std::size_t>(i)];
            QTest::addRow("%s %s", run.at("name").get<std::string>().c_str(),
                          run.at("quantizer").get<std::string>().c_str())
                << i;
        }
    }
    void aTrainingEndsWhereTheRecordedOneDoes()
    {
        QFETCH(int, index);
        const Json run = recorded().at("runs")[static_cast<std::size_t>(index)];
        const auto initial = tensorsOf("init.safetensors");
        const auto gradients = tensorsOf("grads.safetensors");
        const auto final = tensorsOf(run.at("final"));
        const auto names = run.at("param_order").get<std::vector<std::string>>();
        std::vector<at::Tensor> parameters;
        for (const auto& name : names)
            parameters.push_back(tensorNamed(initial, name).clone().set_requires_grad(true));
        const auto optimizer = makeOptimizer(planOf(run), parameters);

        for (const auto& step : run.at("steps")) {
            for (std::size_t i = 0; i < names.size(); ++i)
                parameters[i].mutable_grad() =
                    tensorNamed(gradients, names[i])[step.at("step").get<std::int64_t>() - 1];
            optimizer->step();
            for (std::size_t i = 0; i < names.size(); ++i) {
                const double norm = parameters[i].detach().to(at::kDouble).norm().item<double>();
                const double wanted = step.at("param_l2").at(i);
                QVERIFY2(std::abs(norm - wanted) < 1e-5 * wanted, step.dump().substr(0, 60).c_str());
            }
        }

        const auto states = optimizer->state();
        for (std::size_t i = 0; i < names.size(); ++i) {
            const double away = apart(parameters[i].detach(), tensorNamed(final, names[i]));
            QVERIFY2(away < 1e-5, (names[i] + " " + std::to_string(away)).c_str());
            for (std::size_t s = 0; s * 2 < states.size(); ++s) {
                const auto number = std::to_string(s + 1);
                const at::Tensor got = states[s].second[i].reshape({-1});
                at::Tensor wanted = tensorNamed(final, names[i] + ".state" + number).reshape({-1});
                if (wanted.scalar_type() == at::kByte) { // Codes: as numbers.
                    const at::Tensor map =
                        tensorNamed(tensorsOf("maps.safetensors"), s == 0 ? "signed" : "unsigned");
                    const at::Tensor largest = tensorNamed(final, names[i] + ".absmax" + number);
                    wanted = map.index_select(0, wanted.to(at::kLong))
                        * largest.repeat_interleave(kEightBitBlock).narrow(0, 0, wanted.numel());
                }
                // One code in ten thousand may tip over on another processor.
                const double off = (got - wanted).abs().gt(1e-6 * wanted.abs().max()).sum().item<double>();
                QVERIFY2(off <= 1e-3 * static_cast<double>(got.numel()),
                         (names[i] + " state " + number + ": " + std::to_string(off)).c_str());
            }
        }
    }

    void smallTensorsStayInFp32()
    {
        OptimizerPlan plan;
        plan.kind = OptimizerKind::Adam8bit;
        plan.impl = OptimizerImpl::ForLoop;
        const auto errorOf = [&](std::int64_t count) {
            at::Tensor weight = at::ones({count}).set_requires_grad(true);
            const auto optimizer = makeOptimizer(plan, {weight});
            const at::Tensor gradient = at::linspace(0.1, 1.0, count);
            weight.mutable_grad() = gradient;
            optimizer->step();
            return apart(optimizer->state()[0].second[0], gradient * 0.1);
        };

        QVERIFY(errorOf(4095) < 1e-6);
        QVERIFY(errorOf(4096) > 1e-4);
    }

    void otherBlocksAreMadeAnew()
    {
        const DynamicMap map(DynamicMap::Sign::Signed, Quantizer::Nearest);
        EightBitState whole(map, 1024, true);
        whole.store(at::linspace(-1.0, 1.0, 1024));

        EightBitState part(map, 700, true); // As another rank count would cut it.
        part.restore(whole.load().narrow(0, 100, 700), whole.scales().narrow(0, 100, 700));

        QVERIFY(apart(part.load(), whole.load().narrow(0, 100, 700)) < 0.02);
    }
};

QTEST_APPLESS_MAIN(TestEightBit)
#include "tst_eight_bit.moc"
