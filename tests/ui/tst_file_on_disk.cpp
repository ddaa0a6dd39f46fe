#include "tests/support/scripted_service.h"
#include "ui/bridge/engine_loader.h"
#include "ui/document/kept_draft.h"
#include "ui/main_window.h"
#include "ui/pages/compose/disk_bar.h"
#include "ui/pages/navigation.h"
#include "ui/theme/appearance.h"

#include <QApplication>
#include <QFile>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

using namespace mantissa;
using namespace mantissa::ui;
using mantissa::test::ScriptedService;

namespace {

const QByteArray kFirst = "trainer:\n  max_steps: 10\n";
const QByteArray kOther = "trainer:\n  max_steps: 20\n";

void write(const QString& path, const QByteArray& text)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(text), text.size());
}

QByteArray read(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(no file)");
}

/// The window with a file that is open in it.
struct Bench {
    Bench()
        : engine([]() -> Result<std::unique_ptr<TrainingService>> {
              return std::unique_ptr<TrainingService>(new ScriptedService);
          }),
          path(folder.filePath(QStringLiteral("mine.yaml"))),
          window({document, engine, navigation, appearance,
                  folder.filePath(QStringLiteral("runs")).toStdString()})
    {
        write(path, kFirst);
        window.openFile(path);
        window.show();
    }

    DiskBar& bar() { return *window.findChild<DiskBar*>(); }
    void change() { document.setText("trainer:\n  max_steps: 30\n", QStringLiteral("Change")); }
    /// Saves as Ctrl+S does, and presses a button of the question as soon as it is there.
    void save(const QString& button = {})
    {
        questions = 0;
        QTimer::singleShot(0, &window, [this, button] { press(button); });
        for (auto* action : window.findChildren<QAction*>())
            if (action->shortcut() == QKeySequence(QKeySequence::Save))
                action->trigger();
    }
    void press(const QString& name)
    {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box)
            return;
        ++questions;
        if (auto* button = box->findChild<QPushButton*>(name); button && !name.isEmpty())
            button->click();
        else
            box->reject();
    }

    QTemporaryDir folder;
    Appearance appearance;
    SetupDocument document;
    Navigation navigation;
    EngineLoader engine;
    QString path;
    MainWindow window;
    int questions = 0;
};

} // namespace

class TestFileOnDisk : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }

    void ownWritesAreNotAskedAbout()
    {
        Bench bench;
        bench.change();

        bench.save();
        QTest::qWait(600);

        QCOMPARE(bench.questions, 0);
        QVERIFY(!bench.bar().isVisible());
        QCOMPARE(read(bench.path), QByteArray("trainer:\n  max_steps: 30\n"));
    }

    void whatAnotherProgramWroteIsNotOverwrittenWithoutAQuestion()
    {
        Bench bench;
        bench.change();
        write(bench.path, kOther);

        bench.save();

        QCOMPARE(bench.questions, 1);
        QCOMPARE(read(bench.path), kOther);
        QVERIFY(bench.document.isModified());
        bench.save(QStringLiteral("overwrite"));
        QCOMPARE(read(bench.path), QByteArray("trainer:\n  max_steps: 30\n"));
        QVERIFY(!bench.document.isModified());
    }

    void theQuestionOffersWhatIsThereAndUndoTakesItBack()
    {
        Bench bench;
        bench.change();
        write(bench.path, kOther);

        bench.save(QStringLiteral("reload"));

        QCOMPARE(bench.document.text(), kOther.toStdString());
        QVERIFY(!bench.document.isModified());
        bench.document.undoStack().undo();
        QCOMPARE(bench.document.text(), std::string("trainer:\n  max_steps: 30\n"));
        QVERIFY(bench.document.isModified());
    }

    void aFileThatVanishedIsAskedAbout()
    {
        Bench bench;
        bench.change();
        QVERIFY(QFile::remove(bench.path));

        bench.save();

        QCOMPARE(bench.questions, 1);
        QVERIFY(!QFile::exists(bench.path));
        bench.save(QStringLiteral("overwrite"));
        QVERIFY(QFile::exists(bench.path));
    }

    void aChangeIsToldWhileTheWindowIsOpen_data()
    {
        QTest::addColumn<bool>("replaced");
        QTest::newRow("written in place") << false;
        QTest::newRow("replaced by rename") << true;
    }

    void aChangeIsToldWhileTheWindowIsOpen()
    {
        QFETCH(bool, replaced);
        Bench bench;
        for (const auto& text :
             {kOther, QByteArray("trainer:\n  max_steps: 40\n")}) { // A second time as well.
            if (replaced) {
                QSaveFile file(bench.path);
                QVERIFY(file.open(QIODevice::WriteOnly));
                file.write(text);
                QVERIFY(file.commit());
            } else {
                write(bench.path, text);
            }

            QTRY_VERIFY(bench.bar().isVisible());
            bench.bar().reloadButton().click();

            QCOMPARE(bench.document.text(), text.toStdString());
            QVERIFY(!bench.bar().isVisible());
        }
    }

    void whoKeepsTheirOwnIsNotAskedAgain()
    {
        Bench bench;
        write(bench.path, kOther);
        QTRY_VERIFY(bench.bar().isVisible());

        bench.bar().keepButton().click();

        QVERIFY(!bench.bar().isVisible());
        QVERIFY(bench.document.isModified());
        bench.save();
        QCOMPARE(bench.questions, 0);
        QCOMPARE(read(bench.path), kFirst);
    }

    void aFileThatIsGoneLeavesTheTextUnsaved()
    {
        Bench bench;
        QVERIFY(!bench.document.isModified());

        QVERIFY(QFile::remove(bench.path));

        QTRY_VERIFY(bench.bar().isVisible());
        QVERIFY(bench.bar().title().contains(QStringLiteral("gone")));
        QVERIFY(!bench.bar().reloadButton().isVisible());
        QVERIFY(bench.document.isModified());
    }

    void theSameTextWrittenAgainIsNoChange()
    {
        Bench bench;

        write(bench.path, kFirst);
        QTest::qWait(600);

        QVERIFY(!bench.bar().isVisible());
    }

    void aDraftOutlivesTheProgram()
    {
        {
            Bench bench;
            bench.change();
            bench.window.end(143);
            QVERIFY(!bench.window.isVisible());
        }
        Bench bench;

        QVERIFY(!bench.window.restoreDraft(bench.path)); // Of another folder's file.
        QVERIFY(bench.window.restoreDraft());

        QCOMPARE(bench.document.text(), std::string("trainer:\n  max_steps: 30\n"));
        QVERIFY(bench.document.isModified());
        QVERIFY(!keptDraft());
    }

    void aDraftKnowsTheFileItWasMadeFrom()
    {
        QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("mine.yaml"));
        write(path, kOther); // Meanwhile
        keepDraft({"trainer: {max_steps: 1}\n", QStringLiteral("mine.yaml"), path, kFirst.toStdString(),
                   ResumePoint{"runs/a/checkpoints/000000010", "abc", 9}});
        SetupDocument document;

        document.restore(*keptDraft());

        QVERIFY(document.onDisk() == FileOnDisk::Changed);
        QCOMPARE(document.resume()->parentStep, std::int64_t{9});
        QCOMPARE(document.name(), QStringLiteral("mine.yaml"));
    }
};

QTEST_MAIN(TestFileOnDisk)
#include "tst_file_on_disk.moc"
