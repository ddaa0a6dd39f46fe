#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/history/run_reader.h"
#include "tests/support/stored_bits.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <signal.h>

using namespace mantissa;

namespace {

constexpr double kMostLost = 1.0; // seconds

/// Over two ranks in fp16; small steps take a millisecond or two, large ones a quarter of a second.
std::string setupText(bool large)
{
    const std::string model = large
        ? "model: {class_path: mantissa.Transformer, init_args: {context: 64, width: 192, layers: 4}}\n"
          "data: {class_path: mantissa.Synthetic, init_args: {shape: tokens, inputs: 64, classes: 256, "
          "batch_size: 8}}\n"
        : "model: {class_path: mantissa.MLP, init_args: {inputs: 64, hidden: 32}}\n"
          "data: {class_path: mantissa.Synthetic, init_args: {inputs: 64, batch_size: 8}}\n";
    return "seed_everything: 3\n"
           "trainer: {precision: 16-mixed, strategy: fsdp, devices: 2, max_epochs: 1000000}\n"
        + model + "optimizer: {class_path: torch.optim.AdamW}\n";
}

} // namespace

class TestKilledCommand : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QStringList train(const std::string& text, const QStringList& more = {})
    {
        const QString file = m_folder.filePath(QStringLiteral("setup.yaml"));
        std::ofstream(file.toStdString()) << text;
        return QStringList{"train", file, "--history", m_folder.filePath(QStringLiteral("history"))} + more;
    }

    std::filesystem::path finishedRun(const std::string& text, const QStringList& more)
    {
        QProcess process;
        process.start(QStringLiteral(MANTISSA_CLI), train(text, more + QStringList{"--json"}));
        if (!process.waitForFinished(60'000) || process.exitCode() != 0)
            qFatal("%s", process.readAllStandardError().constData());
        const auto line = process.readAllStandardOutput().trimmed().split('\n').last();
        return QJsonDocument::fromJson(line).object()["folder"].toString().toStdString();
    }

private slots:
    void aKilledRunLosesASecondAtMost_data()
    {
        QTest::addColumn<bool>("large");
        QTest::addColumn<int>("afterMs");
        // MANTISSA_KILLS=10 tries harder.
        const int kills = std::max(2, qEnvironmentVariableIntValue("MANTISSA_KILLS"));
        QRandomGenerator random(qEnvironmentVariableIntValue("MANTISSA_KILL_SEED") + 7u);
        for (const bool large : {false, true})
            for (int i = 0; i < kills; ++i)
                QTest::addRow("%s steps, %d", large ? "large" : "small", i)
                    << large << random.bounded(150, 2600);
    }
    void aKilledRunLosesASecondAtMost()
    {
        QFETCH(const bool, large);
        QFETCH(const int, afterMs);
        QProcess process;
        process.start(QStringLiteral(MANTISSA_CLI), train(setupText(large)));
        QByteArray told;
        QTRY_VERIFY_WITH_TIMEOUT((told += process.readAllStandardError()).contains('\n'), 20'000);
        QElapsedTimer sinceStart; // A little after the run's own clock: the loss is never made smaller.
        sinceStart.start();
        QTest::qWait(afterMs);

        const double lived = static_cast<double>(sinceStart.nsecsElapsed()) * 1e-9;
        kill(static_cast<pid_t>(process.processId()), SIGKILL);
        QVERIFY(process.waitForFinished(10'000));

        const auto line = told.left(told.indexOf('\n')); // "Run ID in FOLDER"
        const auto summary = summarizeRun(line.mid(line.indexOf(" in ") + 4).toStdString());
        QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
        const auto row = *summary;
        QCOMPARE(row.state, RunState::Interrupted);
        const auto reader = std::move(*RunReader::open(row.folder));
        const auto steps = *reader->points({"step_time", "s", -1, "train", false});
        const double last = steps.time.empty() ? 0.0 : steps.time.back();
        const double step = steps.value.empty() ? 0.0 : steps.value.back();
        qInfo("killed after %.3f s; %zu steps, the last at %.3f s, of %.3f s each: %.3f s lost", lived,
              steps.time.size(), last, step, lived - last);
        if (!steps.time.empty() || lived > 2.5)
            QVERIFY2(lived - last <= kMostLost + step, qPrintable(QString::number(lived - last)));
        for (std::size_t i = 0; i < steps.step.size(); ++i)
            QCOMPARE(steps.step[i], static_cast<std::int64_t>(i));
        SQLite::Database database((row.folder / "run.sqlite").string(), SQLite::OPEN_READWRITE);
        QCOMPARE(database.execAndGet("PRAGMA integrity_check").getString(), std::string("ok"));
    }

    void twoRunsOfTheCommandHaveTheSameBits_data()
    {
        QTest::addColumn<QStringList>("changes");
        QTest::addRow("1 rank, 2 threads") << QStringList{
            "--set", "trainer.devices=1", "--set", "trainer.strategy=auto", "--set", "mantissa.threads=2"};
        QTest::addRow("2 ranks, fsdp") << QStringList{};
    }
    void twoRunsOfTheCommandHaveTheSameBits()
    {
        QFETCH(const QStringList, changes);
        const auto more = changes + QStringList{"--set", "trainer.max_steps=5"};

        const auto first = finishedRun(setupText(true), more);
        const auto second = finishedRun(setupText(true), more);

        const auto bits = deterministicBits(first);
        QVERIFY(bits.size() >= 12);
        QCOMPARE(bits.at({"loss", -1}).size(), std::size_t{5});
        QCOMPARE(firstDifference(bits, deterministicBits(second)), QString());
        const auto a = readCheckpoint(first / "checkpoints" / "step-000000005");
        const auto b = readCheckpoint(second / "checkpoints" / "step-000000005");
        QVERIFY(a && b);
        QCOMPARE(a->json, b->json);
        QCOMPARE(a->tensors.size(), b->tensors.size());
        for (const auto& [name, tensor] : a->tensors)
            QVERIFY2(at::equal(tensorNamed(b->tensors, name), tensor), name.c_str());
    }
};

QTEST_GUILESS_MAIN(TestKilledCommand)
#include "tst_killed_command.moc"
