#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/checkpoint/sha256.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace mantissa;

namespace {

TrainerState stateOf(double value)
{
    TrainerState state;
    state.tensors = {{"model.fc1.weight", at::full({3, 4}, value)},
                     {"model.fc1.bias", at::full({3}, value, at::kBFloat16)},
                     {"buffer.bn1.running_mean", at::full({3}, value + 1)},
                     {"optimizer.exp_avg.fc1.weight", at::full({3, 4}, value + 2)},
                     {"rng.0", at::arange(16, at::kByte)}};
    state.json = R"({"step":7})";
    return state;
}

std::filesystem::path pathOf(const QTemporaryDir& folder)
{
    return folder.path().toStdString();
}

} // namespace

class TestCheckpoint : public QObject {
    Q_OBJECT

private slots:
    void sumsAreThoseOfTheStandard_data()
    {
        QTest::addColumn<int>("length");
        for (const int length : {0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000})
            QTest::addRow("%d bytes", length) << length;
    }
    void sumsAreThoseOfTheStandard()
    {
        QFETCH(const int, length);
        QByteArray bytes;
        for (int i = 0; i < length; ++i)
            bytes.append(static_cast<char>(i * 7));
        Sha256 sum;

        sum.add({bytes.constData(), static_cast<std::size_t>(bytes.size() / 3)});
        sum.add({bytes.constData() + bytes.size() / 3,
                 static_cast<std::size_t>(bytes.size() - bytes.size() / 3)});

        QCOMPARE(QByteArray::fromStdString(sum.hex()),
                 QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
    }

    void comesBackAsItWas()
    {
        const QTemporaryDir folder;
        const auto saved = writeCheckpoint(pathOf(folder), 7, {stateOf(1.5)});
        QVERIFY2(saved, saved ? "" : saved.error().message.c_str());

        const auto read = readCheckpoint(saved->folder);

        QVERIFY(read);
        const auto wanted = stateOf(1.5);
        QCOMPARE(read->tensors.size(), wanted.tensors.size());
        for (const auto& [name, tensor] : wanted.tensors) {
            const auto found = tensorNamed(read->tensors, name);
            QVERIFY2(found.defined() && found.scalar_type() == tensor.scalar_type()
                         && at::equal(found, tensor),
                     name.c_str());
        }
        QCOMPARE(read->json, wanted.json);
        QVERIFY(saved->bytes > 0);
        QCOMPARE(saved->sha256, *sha256OfFile(saved->folder / "manifest.json"));
    }

    void weightsStandUnderTheirPyTorchNames()
    {
        const QTemporaryDir folder;
        const auto saved = writeCheckpoint(pathOf(folder), 7, {stateOf(1.5)});

        const auto model = readSafetensors(saved->folder / "model.safetensors");

        QVERIFY(model);
        QVERIFY(tensorNamed(*model, "fc1.weight").defined());
        QVERIFY(tensorNamed(*model, "bn1.running_mean").defined());
        QCOMPARE(model->size(), std::size_t{3});
    }

    void aSecondOneOfTheSameStepTakesItsPlace()
    {
        const QTemporaryDir folder;
        QVERIFY(writeCheckpoint(pathOf(folder), 7, {stateOf(1.0)}));
        QVERIFY(writeCheckpoint(pathOf(folder), 7, {stateOf(2.0)}));
        QVERIFY(writeCheckpoint(pathOf(folder), 12, {stateOf(3.0)}));

        const auto names =
            QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);

        QCOMPARE(names, (QStringList{"step-000000007", "step-000000012"}));
        QCOMPARE(tensorNamed(readCheckpoint(pathOf(folder) / "step-000000007")->tensors, "model.fc1.bias")[0]
                     .item<double>(),
                 2.0);
    }

    void theOldOneStaysWhereTheNewOneFails()
    {
        const QTemporaryDir folder;
        QVERIFY(writeCheckpoint(pathOf(folder), 7, {stateOf(1.0)}));
        auto broken = stateOf(2.0);
        broken.tensors.emplace_back("model.bad",
                                    at::zeros({2}, at::kComplexFloat)); // no such type in the file format

        QVERIFY(!writeCheckpoint(pathOf(folder), 12, {broken}));

        const auto names =
            QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
        QCOMPARE(names, QStringList{"step-000000007"});
        QVERIFY(readCheckpoint(pathOf(folder) / "step-000000007"));
    }

    void damageIsFoundAndNamed_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("how");
        for (const char* file :
             {"model.safetensors", "training.safetensors", "training.json", "manifest.json"}) {
            QTest::addRow("%s truncated", file) << file << 0;
            QTest::addRow("%s missing", file) << file << 2;
        }
        for (const char* file : {"model.safetensors", "training.safetensors", "training.json"})
            QTest::addRow("%s with a wrong byte", file) << file << 1;
    }
    void damageIsFoundAndNamed()
    {
        QFETCH(const QString, file);
        QFETCH(const int, how);
        const QTemporaryDir folder;
        const auto saved = writeCheckpoint(pathOf(folder), 7, {stateOf(1.5)});
        QFile damaged(QString::fromStdString((saved->folder / file.toStdString()).string()));
        if (how == 2) {
            QVERIFY(damaged.remove());
        } else {
            QVERIFY(damaged.open(QIODevice::ReadWrite));
            if (how == 0)
                QVERIFY(damaged.resize(damaged.size() / 2));
            else
                QVERIFY(damaged.seek(damaged.size() - 2) && damaged.putChar('~'));
            damaged.close();
        }

        const auto read = readCheckpoint(saved->folder);

        QVERIFY(!read);
        QVERIFY2(read.error().message.find(file.toStdString()) != std::string::npos,
                 read.error().message.c_str());
        QVERIFY(!verifyCheckpoint(saved->folder));
    }

    void aFolderThatCannotBeMadeIsAnError()
    {
        const auto saved = writeCheckpoint("/proc/nowhere", 1, {stateOf(1.0)});

        QVERIFY(!saved);
        QCOMPARE(saved.error().code, ErrorCode::Io);
        QVERIFY(!saved.error().hint.empty());
    }
};

QTEST_APPLESS_MAIN(TestCheckpoint)
#include "tst_checkpoint.moc"
