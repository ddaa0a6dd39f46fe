#include "ui/document/setup_document.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

const char* const kText = R"(# Mine, and mine alone.
trainer:
  precision: 16-mixed   # wide enough
  strategy: fsdp
  accelerator: gpu
  devices: 2
optimizer:
  class_path: torch.optim.AdamW
  init_args:
    fused: true
mantissa:
  target: fabric-2.6.6
  fabric:
    max_norm: 1.0
)";

} // namespace

class TestSetupDocument : public QObject {
    Q_OBJECT

private slots:
    void everyChangeIsCheckedAtOnce()
    {
        SetupDocument document;
        const QSignalSpy changes(&document, &SetupDocument::changed);

        document.startFrom(kText, QStringLiteral("mine.yaml"));
        QCOMPARE(document.report().onTarget.verdict, Verdict::Stops);
        QVERIFY(document.setField("optimizer.init_args.fused", false));

        QVERIFY(document.report().onTarget.verdict != Verdict::Stops);
        QCOMPARE(changes.count(), 2);
    }

    void aFixCanBeUndone()
    {
        SetupDocument document;
        document.startFrom(kText, QStringLiteral("mine.yaml"));
        const auto finding = document.report().findings.front();

        QVERIFY(document.apply(finding.fixes.front().edits, QStringLiteral("fix")));
        QVERIFY(document.report().findings.empty()
                || document.report().findings.front().rule != finding.rule);
        document.undoStack().undo();

        QCOMPARE(document.text(), std::string(kText));
        QCOMPARE(document.report().findings.front().rule, finding.rule);
        document.undoStack().redo();
        QVERIFY(document.text() != kText);
    }

    void anEditKeepsCommentsAndOrder()
    {
        SetupDocument document;
        document.startFrom(kText, QStringLiteral("mine.yaml"));

        QVERIFY(document.setField("trainer.precision", "bf16-mixed"));

        auto expected = std::string(kText);
        expected.replace(expected.find("16-mixed"), 8, "bf16-mixed");
        QCOMPARE(document.text(), expected);
    }

    void typingIsOneUndoStep()
    {
        SetupDocument document;
        document.startFrom("trainer:\n  max_epochs: 1\n", QStringLiteral("mine.yaml"));

        document.setText("trainer:\n  max_epochs: 12\n", QStringLiteral("typing"), 1);
        document.setText("trainer:\n  max_epochs: 123\n", QStringLiteral("typing"), 1);

        QCOMPARE(document.undoStack().count(), 1);
        document.undoStack().undo();
        QCOMPARE(document.text(), std::string("trainer:\n  max_epochs: 1\n"));
    }

    void whatCannotBeReadKeepsTheLastReadableSetup()
    {
        SetupDocument document;
        document.startFrom(kText, QStringLiteral("mine.yaml"));

        document.setText("trainer:\n  precision: [1, 2}\n", QStringLiteral("typing"));

        QVERIFY(!document.isReadable());
        QCOMPARE(document.failure()->at.line, std::size_t(2));
        QCOMPARE(document.setup().at("trainer.precision").asString(), std::string("16-mixed"));
        QVERIFY(!document.setField("trainer.precision", "32-true"));
        document.undoStack().undo();
        QVERIFY(document.isReadable());
    }

    void savingIsAtomicAndMakesItClean()
    {
        const QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("mine.yaml"));
        SetupDocument document;
        document.startFrom(kText, QStringLiteral("mine.yaml"));
        QVERIFY(document.setField("trainer.devices", 2));
        QVERIFY(!document.isModified());

        QVERIFY(document.save(path));
        QVERIFY(!document.isModified());
        QVERIFY(document.setField("trainer.devices", 4));
        QVERIFY(document.isModified());
        QVERIFY(!document.save(folder.filePath(QStringLiteral("no/such/folder.yaml"))));
        QVERIFY(document.isModified());

        SetupDocument again;
        QVERIFY(again.open(path));
        QCOMPARE(again.text(), std::string(kText));
    }

    void aFileThatIsFarTooLargeChangesNothing()
    {
        QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("large.yaml"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        QVERIFY(file.write(QByteArray("a: 1\n").repeated(1'000'000)) > 0);
        file.close();
        SetupDocument document;
        document.startFrom(kText, QStringLiteral("mine.yaml"));

        const auto opened = document.open(path);

        QVERIFY(!opened);
        QVERIFY(opened.error().message.find("large.yaml") != std::string::npos);
        QCOMPARE(document.text(), std::string(kText));
    }

    void aFileThatCannotBeReadDoesNotKeepTheFindingsOfTheOneBefore()
    {
        const SetupDocument fresh;
        SetupDocument document;
        document.startFrom("trainer: {precision: no-such, devices: 4}\n", QStringLiteral("first.yaml"));
        QVERIFY(!document.report().findings.empty());

        document.startFrom("trainer: {precision: [\n", QStringLiteral("second.yaml"));

        QVERIFY(!document.isReadable());
        QCOMPARE(document.report().findings.size(), fresh.report().findings.size());
        QVERIFY(document.setup() == fresh.setup());
        QVERIFY(!document.lastReadable().isValid());
    }

    void aFileThatIsNotThereChangesNothing()
    {
        SetupDocument document;
        document.startFrom(kText, QStringLiteral("mine.yaml"));

        const auto opened = document.open(QStringLiteral("/no/such/file.yaml"));

        QVERIFY(!opened);
        QVERIFY(!opened.error().message.empty());
        QCOMPARE(document.text(), std::string(kText));
    }
};

QTEST_MAIN(TestSetupDocument)
#include "tst_setup_document.moc"
