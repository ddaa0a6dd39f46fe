#include "engine/doctor/doctor.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace mantissa;

namespace {

Examined found(const std::vector<Examined>& rows, const char* id)
{
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Examined& each) { return each.id == id; });
    return row == rows.end() ? Examined{} : *row;
}

std::vector<Examined> examineIn(const QTemporaryDir& folder)
{
    const std::filesystem::path place = folder.path().toStdString();
    return examine({place / "history", place},
                   EngineReport{"Some engine", "a device", {"CUDA not found: no driver."}});
}

} // namespace

class TestDoctor : public QObject {
    Q_OBJECT

private slots:
    void theEngineAndItsNotesAreTold()
    {
        const QTemporaryDir folder;
        const auto rows = examineIn(folder);

        QCOMPARE(found(rows, "engine").found, std::string("Some engine, a device."));
        QCOMPARE(found(rows, "engine_note").mark, Examined::Mark::Note);
        QVERIFY(found(rows, "processor").found.find("core") != std::string::npos);
    }

    void anEngineThatIsNotThereIsMissingWithItsHint()
    {
        const QTemporaryDir folder;
        const auto rows = examine({folder.path().toStdString(), {}},
                                  Error{ErrorCode::NotHere, "No engine beside the program.", "Build it."});

        const auto engine = found(rows, "engine");
        QCOMPARE(engine.mark, Examined::Mark::Missing);
        QCOMPARE(engine.hint, std::string("Build it."));
    }

    void dataAreCountedFileByFile()
    {
        const QTemporaryDir folder;
        QVERIFY(found(examineIn(folder), "fashion_mnist").mark == Examined::Mark::Note);
        for (const auto* name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte",
                                 "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}) {
            QVERIFY(found(examineIn(folder), "fashion_mnist").mark == Examined::Mark::Note);
            QFile file(folder.filePath(QLatin1String(name)));
            QVERIFY(file.open(QIODevice::WriteOnly));
        }
        QVERIFY(found(examineIn(folder), "fashion_mnist").mark == Examined::Mark::Good);
    }

    void aHistoryThatIsNotThereYetIsFineWhereItCanBeMade()
    {
        const QTemporaryDir folder;
        const auto history = found(examineIn(folder), "history");
        QVERIFY(history.mark != Examined::Mark::Missing);
        QVERIFY(history.found.starts_with("0 runs in "));
    }

    void aHistoryThatCannotBeWrittenIsMissing()
    {
        const auto rows = examine({"/proc/1/history", {}}, EngineReport{});
        QCOMPARE(found(rows, "history").mark, Examined::Mark::Missing);
        QVERIFY(!found(rows, "history").hint.empty());
    }
};

QTEST_GUILESS_MAIN(TestDoctor)
#include "tst_doctor.moc"
