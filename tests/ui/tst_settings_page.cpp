#include "ui/bridge/engine_loader.h"
#include "ui/document/setup_document.h"
#include "ui/pages/navigation.h"
#include "ui/pages/settings/settings_page.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/segments.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

struct Bench {
    QTemporaryDir folder;
    Appearance appearance;
    Navigation navigation;
    SetupDocument document;
    EngineLoader engine{[]() -> Result<std::unique_ptr<TrainingService>> {
        return Error{ErrorCode::NotHere, "No engine here.", "Build it."};
    }};
    SettingsPage page{{document, engine, navigation, appearance, folder.path().toStdString()}};

    bool says(const QString& words) const
    {
        const auto labels = page.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
                           [&](const QLabel* label) { return label->text().contains(words); });
    }

    /// The texts of the labels whose colour is so light or dark.
    template <typename Is>
    QStringList labelsThat(Is is) const
    {
        QStringList texts;
        for (const auto* label : page.findChildren<QLabel*>())
            if (is(label->palette().color(QPalette::WindowText).lightness()))
                texts << label->text();
        return texts;
    }
};

} // namespace

class TestSettingsPage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("mantissa-tests"));
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
    }

    void whatIsMissingIsSaidWithWhatToDo()
    {
        Bench bench;
        bench.page.resize(1208, 640);
        bench.page.show();

        bench.page.activate();

        QTRY_VERIFY_WITH_TIMEOUT(!bench.page.found().empty(), 10'000);
        QVERIFY(bench.says(QStringLiteral("No engine here.")));
        QVERIFY(bench.says(QStringLiteral("Build it.")));
        QVERIFY(bench.says(bench.folder.path()));
        QCOMPARE(bench.page.statusText(), QStringLiteral("Something is missing on this machine"));
    }

    void theReportIsCopiedAsText()
    {
        Bench bench;
        bench.page.show();
        bench.page.activate();
        QTRY_VERIFY_WITH_TIMEOUT(!bench.page.found().empty(), 10'000);

        for (auto* button : bench.page.findChildren<QToolButton*>())
            if (button->text() == QStringLiteral("Copy report"))
                button->click();

        const auto lines = QGuiApplication::clipboard()->text().split(u'\n');
        QCOMPARE(lines.size(), static_cast<qsizetype>(bench.page.found().size()));
        QVERIFY(lines.contains(QStringLiteral("Training engine: missing: No engine here. Build it.")));
    }

    void aThemeIsChosenAndKept()
    {
        Bench bench;
        ActionBar bar(Tone::Warn, &bench.page);
        bar.setTexts(QStringLiteral("title"), QStringLiteral("detail"));
        bench.page.show();
        emit bench.page.themes().chosen(static_cast<int>(ThemeChoice::Dark));

        QCOMPARE(bench.appearance.choice(), ThemeChoice::Dark);

        // Qt tells widgets of a new palette from the event loop.
        QTRY_COMPARE(bench.labelsThat([](int lightness) { return lightness <= 128; }), QStringList());

        bench.appearance.setChoice(ThemeChoice::Light); // From the menu.
        QTRY_COMPARE(bench.labelsThat([](int lightness) { return lightness >= 128; }), QStringList());
        QCOMPARE(bench.page.themes().current(), static_cast<int>(ThemeChoice::Light));

        emit bench.page.themes().chosen(static_cast<int>(ThemeChoice::Dark));
        // Last: a second one puts its own style in the place of the bench's.
        QCOMPARE(Appearance().choice(), ThemeChoice::Dark);
    }
};

QTEST_MAIN(TestSettingsPage)
#include "tst_settings_page.moc"
