#include "engine/precision/precision.h"
#include "engine/train/verify.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace mantissa;

namespace {

std::filesystem::path traces(const char* kind)
{
    return std::filesystem::path(TEST_DATA) / "golden" / kind;
}

void addRows(const char* kind)
{
    const QDir folder(QString::fromStdString(traces(kind).string()));
    for (const auto& name : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot))
        QTest::newRow(qPrintable(name)) << QString::fromStdString(traces(kind).string()) + "/" + name;
}

QByteArray describe(const VerifyReport& report)
{
    std::string text = report.caseName;
    for (const auto& quantity : report.quantities) {
        if (!quantity.inside)
            text += "; " + quantity.name + " " + std::to_string(quantity.worst) + " (" + quantity.measure
                + ", at most " + std::to_string(quantity.tolerance) + ") at step "
                + std::to_string(quantity.step);
    }
    return QByteArray::fromStdString(text);
}

bool has(const VerifyReport& report, const std::string& quantity)
{
    return std::any_of(report.quantities.begin(), report.quantities.end(),
                       [&](const auto& q) { return q.name == quantity; });
}

/// The traces were recorded on a processor with these: only there are the last bits the same.
bool isTheRecordingKindOfMachine()
{
    QFile file("/proc/cpuinfo");
    if (!file.open(QIODevice::ReadOnly))
        return false;
    const QByteArray flags = file.readAll();
    return flags.contains("amx_bf16") && flags.contains("avx512_fp16") && flags.contains("avx512_bf16");
}

/// A copy of a sound trace with some of its words exchanged.
bool writeChanged(const QTemporaryDir& folder, const QByteArray& was, const QByteArray& is)
{
    const auto original = traces("single") / "mlp-32-sgd-forloop-clipvalue";
    QFile source(QString::fromStdString((original / "case.json").string()));
    if (!source.open(QIODevice::ReadOnly))
        return false;
    QByteArray text = source.readAll();
    if (!text.contains(was))
        return false;
    text.replace(was, is);
    text.replace("../../", (traces("single").parent_path().string() + "/").c_str());
    text.replace("\"final.safetensors\"", ("\"" + (original / "final.safetensors").string() + "\"").c_str());
    QFile file(folder.filePath("case.json"));
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

/// Measures the norm and forgets to multiply.
class ClipsNothing final : public Precision {
public:
    using Precision::Precision;
    double clipGradByNorm(Optimizer& optimizer, double, double p, Strategy& strategy) override
    {
        return Precision::clipGradByNorm(optimizer, 1e30, p, strategy);
    }
};

/// Divides by half of the scale.
class UnscalesByHalf final : public Precision {
public:
    using Precision::Precision;
    void unscaleGradients(Optimizer& optimizer) override
    {
        Precision::unscaleGradients(optimizer);
        const at::NoGradGuard noGrad;
        for (const auto& gradient : optimizer.gradients())
            gradient.mul_(2.0);
    }
};

template <typename Broken>
TrainerSeams with()
{
    TrainerSeams seams;
    seams.makePrecision = [](const RunPlan& plan, Communicator& communicator) {
        return std::make_unique<Broken>(plan, communicator);
    };
    return seams;
}

} // namespace

class TestGolden : public QObject {
    Q_OBJECT

private slots:
    void aTraceIsRepeatedWithinTolerance_data()
    {
        QTest::addColumn<QString>("folder");
        addRows("single");
        addRows("dist");
    }
    void aTraceIsRepeatedWithinTolerance()
    {
        QFETCH(QString, folder);

        const auto report = verifyCase({folder.toStdString(), false});

        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QVERIFY2(report->inside, describe(*report));
        QVERIFY(has(*report, "loss"));
        QVERIFY(has(*report, "grad_norm64"));
        QVERIFY(has(*report, "lr"));
    }

    void oneProcessIsRepeatedBitForBit_data()
    {
        QTest::addColumn<QString>("folder");
        addRows("single");
    }
    void oneProcessIsRepeatedBitForBit()
    {
        QFETCH(QString, folder);
        if (!isTheRecordingKindOfMachine())
            QSKIP("the traces were recorded on another kind of processor");

        const auto report = verifyCase({folder.toStdString(), true});

        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QVERIFY2(report->inside, describe(*report));
    }

    void onlyWhatThisEngineLacksIsNotRun()
    {
        QTemporaryDir folder;
        QVERIFY(writeChanged(folder, "\"sgd\"", "\"adadelta\""));
        const auto optimizer = verifyCase({folder.path().toStdString(), false});
        const auto strategy = verifyCase({traces("elsewhere") / "tensor-parallel-w2-32", false});

        QVERIFY(!optimizer && optimizer.error().code == ErrorCode::NotHere);
        QCOMPARE(optimizer.error().message, std::string("not run here: the optimizer adadelta"));
        QVERIFY(!strategy && strategy.error().code == ErrorCode::NotHere);
        QVERIFY(strategy.error().message.find("tensor_parallel") != std::string::npos);
    }

    void aClipThatDoesNothingIsNoticed_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"single/gpt-32-adamw-fused-cosine-clipnorm", "single/mlp-32-nesterov-forloop-steplr-clipnorm",
              "dist/fsdp1-w2-gpt-full-bf16-adamw", "dist/fsdp1-w2-full-bf16-reducebf16-adamw-fused",
              "dist/fsdp1-w4-hybrid2x2-32-adamw", "dist/fsdp2-w4-hsdp2x2-bf16-adamw"})
            QTest::newRow(name) << name;
    }
    void aClipThatDoesNothingIsNoticed()
    {
        QFETCH(QString, name);

        const auto report = verifyCase(
            {std::filesystem::path(TEST_DATA) / "golden" / name.toStdString(), false}, with<ClipsNothing>());

        QVERIFY(report);
        QVERIFY(!report->inside);
    }

    void anUnscaleByTheWrongFactorIsNoticed_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"single/mlp-16mixed-adamw-fused-explicit-clipnorm-overflow",
                                 "single/mlp-16mixed-sgd-forloop-sawtooth",
                                 "single/mlp-16mixed-adamw-forloop-overflow-holdsched",
                                 "dist/fsdp1-w2-full-fp16-adam-foundinf-on-rank1-only",
                                 "dist/fsdp2-w2-fp16-reduce32-adam-foundinf-on-rank1-only"})
            QTest::newRow(name) << name;
    }
    void anUnscaleByTheWrongFactorIsNoticed()
    {
        QFETCH(QString, name);

        const auto report =
            verifyCase({std::filesystem::path(TEST_DATA) / "golden" / name.toStdString(), false},
                       with<UnscalesByHalf>());

        QVERIFY(report);
        QVERIFY(!report->inside);
    }

    void aFolderWithoutATraceIsAClearError()
    {
        const auto report = verifyCase({std::filesystem::path(TEST_DATA) / "nothing-here", false});

        QVERIFY(!report);
        QCOMPARE(report.error().code, ErrorCode::NotFound);
    }

    void aTraceThatIsNotSoundSaysWhere_data()
    {
        QTest::addColumn<QByteArray>("was");
        QTest::addColumn<QByteArray>("is");
        QTest::addColumn<QByteArray>("words");
        const auto row = [](const char* name, const char* was, const char* is, const char* words) {
            QTest::newRow(name) << QByteArray(was) << QByteArray(is) << QByteArray(words);
        };
        row("no optimizer", "\"optimizer\"", "\"optimiser\"", "optimizer");
        row("word for a number", "\"lr\": 0.05", "\"lr\": \"x\"", "optimizer: ");
        row("no threads", "\"threads\": 1", "\"threads\": 0", "threads is 0");
        row("width of -1", "\"din\": 64", "\"din\": -1", "model.din is -1");
        row("half a file", "\"steps\"", "\"", "line");
        row("steps are no list", "\"steps\": [", "\"steps\": 7, \"others\": [", "steps");
        row("no steps", "\"steps\": [", "\"steps\": [], \"others\": [", "nothing to compare");
        row("no norms", "\"grad_norm64\"", "\"norm\"", "records no grad_norm64");
        row("no parameters", "\"param_order\": [", "\"param_order\": [], \"order\": [",
            "names no parameters");
        row("loss is a word", "\"loss\":[", "\"loss\":\"low\",\"other\":[", "steps");
    }

    void aTraceThatIsNotSoundSaysWhere()
    {
        QFETCH(QByteArray, was);
        QFETCH(QByteArray, is);
        QFETCH(QByteArray, words);
        QTemporaryDir folder;
        QVERIFY(writeChanged(folder, was, is));

        const auto report = verifyCase({folder.path().toStdString(), false});

        QVERIFY(!report || !report->inside);
        if (!report) {
            QCOMPARE(report.error().code, ErrorCode::Damaged);
            QVERIFY2(report.error().message.find(words.toStdString()) != std::string::npos,
                     report.error().message.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestGolden)
#include "tst_golden.moc"
