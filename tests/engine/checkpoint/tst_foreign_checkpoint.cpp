#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/train/training_position.h"

#include <nlohmann/json.hpp>

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <functional>

using namespace mantissa;
using nlohmann::json;

namespace {

TrainerState partOf(int rank)
{
    TrainerState state;
    // Eight elements over two ranks, five and three of them; the bias is rank 1's alone.
    state.tensors = {
        {"model.fc1.weight", rank == 0 ? at::arange(5, at::kFloat) : at::arange(5, 8, at::kFloat)},
        {"optimizer.exp_avg.fc1.weight", at::full({rank == 0 ? 5 : 3}, 0.5F)}};
    if (rank == 1)
        state.tensors.emplace_back("model.fc1.bias", at::ones({2}, at::kFloat));
    else
        state.tensors.emplace_back("rng.0", at::arange(4, at::kByte));
    state.shapes = {
        {"model.fc1.weight", {2, 4}}, {"model.fc1.bias", {2}}, {"optimizer.exp_avg.fc1.weight", {2, 4}}};
    state.json = R"({"step":3})";
    return state;
}

json readJson(const std::filesystem::path& file)
{
    std::ifstream in(file);
    return json::parse(in);
}

/// Where Python has the package.
QString pythonWithSafetensors()
{
    for (const auto& name : {qEnvironmentVariable("MANTISSA_PYTHON"), QStringLiteral("python3")}) {
        if (name.isEmpty())
            continue;
        QProcess process;
        process.start(name, {QStringLiteral("-c"), QStringLiteral("import numpy, safetensors.numpy")});
        if (process.waitForFinished(60'000) && process.exitStatus() == QProcess::NormalExit
            && process.exitCode() == 0)
            return name;
    }
    return {};
}

QString run(const QString& python, const char* script, const std::filesystem::path& file)
{
    QProcess process;
    process.start(python,
                  {QStringLiteral("-c"), QString::fromLatin1(script), QString::fromStdString(file.string())});
    process.waitForFinished(60'000);
    return QString::fromUtf8(process.readAllStandardOutput() + process.readAllStandardError()).trimmed();
}

} // namespace

class TestForeignCheckpoint : public QObject {
    Q_OBJECT

private:
    /// A good checkpoint of two parts, to be broken.
    std::filesystem::path twoParts(const QTemporaryDir& folder)
    {
        return writeCheckpoint(folder.path().toStdString(), 3, {partOf(0), partOf(1)})->folder;
    }

    /// Changes the manifest and reads the checkpoint again.
    Result<TrainerState> withManifest(const std::function<void(json&)>& change)
    {
        const QTemporaryDir folder;
        const auto checkpoint = twoParts(folder);
        auto manifest = readJson(checkpoint / "manifest.json");
        change(manifest);
        std::ofstream(checkpoint / "manifest.json") << manifest.dump();
        return readCheckpoint(checkpoint);
    }

private slots:
    void partsOfTwoRanksBecomeWhole()
    {
        const QTemporaryDir folder;

        const auto state = readCheckpoint(twoParts(folder));

        QVERIFY2(state, state ? "" : state.error().message.c_str());
        QVERIFY(at::equal(tensorNamed(state->tensors, "model.fc1.weight"),
                          at::arange(8, at::kFloat).view({2, 4})));
        QVERIFY(at::equal(tensorNamed(state->tensors, "model.fc1.bias"), at::ones({2})));
        QVERIFY(
            at::equal(tensorNamed(state->tensors, "optimizer.exp_avg.fc1.weight"), at::full({2, 4}, 0.5F)));
        QCOMPARE(tensorNamed(state->tensors, "rng.0").numel(), std::int64_t{4});
        QVERIFY(state->shapes.empty());
    }

    void aManifestThatIsNotSoundIsRefused_data()
    {
        QTest::addColumn<QString>("patch");
        const auto row = [](const char* name, const char* patch) { QTest::newRow(name) << patch; };
        row("a path upwards",
            R"([{"op":"add","path":"/files/..~1..~1secret","value":{"bytes":1,"sha256":""}}])");
        row("an absolute path",
            R"([{"op":"add","path":"/files/~1etc~1passwd","value":{"bytes":1,"sha256":""}}])");
        row("a file of nobody", R"([{"op":"add","path":"/files/more.bin","value":{"bytes":1,"sha256":""}}])");
        row("no files", R"([{"op":"remove","path":"/files"}])");
        row("files as a list", R"([{"op":"replace","path":"/files","value":[1,2]}])");
        row("a file as a number", R"([{"op":"replace","path":"/files/training.json","value":7}])");
        row("a size below zero", R"([{"op":"replace","path":"/files/training.json/bytes","value":-1}])");
        row("a wrong size", R"([{"op":"replace","path":"/files/training.json/bytes","value":99}])");
        row("a wrong sum", R"([{"op":"replace","path":"/files/training.json/sha256","value":"00"}])");
        row("steps below zero", R"([{"op":"replace","path":"/steps","value":-3}])");
        row("no part", R"([{"op":"replace","path":"/parts","value":0}])");
        row("a million parts", R"([{"op":"replace","path":"/parts","value":1000000}])");
        row("a part too many", R"([{"op":"replace","path":"/parts","value":3}])");
        row("a newer format", R"([{"op":"replace","path":"/format","value":2}])");
        row("buffers as a word", R"([{"op":"replace","path":"/buffers","value":"all"}])");
        row("a shape too large", R"([{"op":"replace","path":"/shapes/model.fc1.bias","value":[3]}])");
        row("a shape beyond 64 bits",
            R"([{"op":"replace","path":"/shapes/model.fc1.bias","value":[4294967296,4294967296]}])");
        row("a shape below zero", R"([{"op":"replace","path":"/shapes/model.fc1.bias","value":[-2]}])");
        row("a shape of nothing", R"([{"op":"add","path":"/shapes/model.fc9.bias","value":[2]}])");
        row("pieces of what is whole", R"([{"op":"remove","path":"/shapes/model.fc1.weight"}])");
    }
    void aManifestThatIsNotSoundIsRefused()
    {
        QFETCH(const QString, patch);

        const auto state = withManifest(
            [&](json& manifest) { manifest = manifest.patch(json::parse(patch.toStdString())); });

        QVERIFY(!state);
        QCOMPARE(state.error().code, ErrorCode::Damaged);
        QVERIFY(!state.error().hint.empty());
    }

    void aPositionThatIsNotSoundIsRefused_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("a list") << QByteArray("[]");
        QTest::newRow("words for numbers") << QByteArray(R"({"step":"many"})");
        TrainingPosition position;
        position.optimizerState = position.optimizerSettings = "{}";
        position.scheduleSettings = position.scalerState = "{}";
        position.scheduleState = R"({"advances":0,"rate":0.1})";
        position.samples = 10;
        position.step = -4;
        QTest::newRow("a step below zero") << QByteArray::fromStdString(positionText(position));
        position.step = 4;
        position.batch = 1LL << 60;
        QTest::newRow("a batch past the data") << QByteArray::fromStdString(positionText(position));
        position.batch = 0;
        position.ranks = 0;
        QTest::newRow("no rank") << QByteArray::fromStdString(positionText(position));
    }
    void aPositionThatIsNotSoundIsRefused()
    {
        QFETCH(const QByteArray, text);

        const auto position = readPosition(text.toStdString());

        QVERIFY(!position);
        QCOMPARE(position.error().code, ErrorCode::Damaged);
    }

    void pythonReadsOurWeights()
    {
        const QString python = pythonWithSafetensors();
        if (python.isEmpty())
            QSKIP("Python's safetensors is not here (MANTISSA_PYTHON names an interpreter that has it).");
        const QTemporaryDir folder;
        TrainerState state;
        state.tensors = {{"model.fc1.weight", at::arange(6, at::kFloat).view({2, 3})},
                         {"model.half", at::full({2, 2}, 1.5, at::kHalf)},
                         {"model.brain", at::ones({3}, at::kBFloat16)},
                         {"buffer.count", at::full({}, 7, at::kLong)}};
        const auto saved = writeCheckpoint(folder.path().toStdString(), 1, {state});

        const auto told =
            run(python,
                "import sys\n"
                "from safetensors import safe_open\n"
                "with safe_open(sys.argv[1], framework='numpy') as f:\n"
                "    print(f.metadata()['format'])\n"
                "    for k in sorted(f.keys()):\n"
                "        s = f.get_slice(k)\n"
                "        total = '' if s.get_dtype() == 'BF16' else float(f.get_tensor(k).sum())\n"
                "        print(k, s.get_dtype(), s.get_shape(), total)\n",
                saved->folder / "model.safetensors");

        QCOMPARE(
            told,
            QStringLiteral("pt\nbrain BF16 [3] \ncount I64 [] 7.0\nfc1.weight F32 [2, 3] 15.0\nhalf F16 [2, "
                           "2] 6.0"));
    }

    void weReadWhatPythonWrites()
    {
        const QString python = pythonWithSafetensors();
        if (python.isEmpty())
            QSKIP("Python's safetensors is not here (MANTISSA_PYTHON names an interpreter that has it).");
        const QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "theirs.safetensors";
        const auto told =
            run(python,
                "import sys, numpy as np\n"
                "from safetensors.numpy import save_file\n"
                "save_file({'a': np.arange(6, dtype=np.float32).reshape(2, 3),\n"
                "           'b': np.ones(3, dtype=np.float16),\n"
                "           'c': np.array(5, dtype=np.int64)}, sys.argv[1], {'by': 'python'})\n",
                file);
        QCOMPARE(told, QString());

        const auto tensors = readSafetensors(file);

        QVERIFY2(tensors, tensors ? "" : tensors.error().message.c_str());
        QVERIFY(at::equal(tensorNamed(*tensors, "a"), at::arange(6, at::kFloat).view({2, 3})));
        QVERIFY(at::equal(tensorNamed(*tensors, "b"), at::ones({3}, at::kHalf)));
        QCOMPARE(tensorNamed(*tensors, "c").item<std::int64_t>(), std::int64_t{5});
    }
};

QTEST_APPLESS_MAIN(TestForeignCheckpoint)
#include "tst_foreign_checkpoint.moc"
