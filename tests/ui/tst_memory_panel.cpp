#include "engine/recipe/memory_forecast.h"
#include "engine/recipe/setup_file.h"
#include "ui/pages/compose/memory_panel.h"
#include "ui/text/format.h"
#include "ui/widgets/memory_bar.h"
#include "ui/widgets/panels.h"

#include <QTest>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

Setup setupWith(const char* strategy, const char* optimizer)
{
    return readSetup(
               std::string("trainer: {accelerator: cpu, devices: 4, precision: bf16-mixed, strategy: ")
               + strategy
               + "}\nmodel: {class_path: mantissa.Transformer}\ndata: {class_path: mantissa.Synthetic}\n"
                 "optimizer: {class_path: "
               + optimizer + "}\n")
        .setup;
}

} // namespace

class TestMemoryPanel : public QObject {
    Q_OBJECT

private slots:
    void theSumAndItsTermsAreThoseOfTheForecast_data()
    {
        QTest::addColumn<QByteArray>("strategy");
        QTest::addColumn<bool>("gathers");
        QTest::newRow("ddp") << QByteArray("ddp") << false;
        QTest::newRow("fsdp") << QByteArray("fsdp") << true;
    }
    void theSumAndItsTermsAreThoseOfTheForecast()
    {
        QFETCH(const QByteArray, strategy);
        QFETCH(const bool, gathers);
        const Setup setup = setupWith(strategy.constData(), "torch.optim.AdamW");
        const auto terms = forecastMemory(*planRun(setup));
        MemoryPanel panel;

        panel.setSetup(setup);

        auto* bar = panel.findChild<MemoryBar*>();
        QVERIFY(bar->isVisibleTo(&panel));
        const QString words = bar->accessibleName();
        QVERIFY2(words.endsWith(formatBytes(terms->total())), qPrintable(words));
        QVERIFY(words.contains(QStringLiteral("Optimizer state ") + formatBytes(terms->optimizer)));
        QCOMPARE(words.contains(QStringLiteral("Gathered weights")), gathers);
    }

    void aPreviewSaysThatItIsOne()
    {
        MemoryPanel panel;
        panel.setSetup(setupWith("fsdp", "torch.optim.SGD"), QStringLiteral("Replicate instead of sharding"));
        const auto labels = panel.findChildren<ThemedLabel*>();
        QCOMPARE(labels.front()->text(), QStringLiteral("As previewed: Replicate instead of sharding"));
        QVERIFY(labels.front()->isVisibleTo(&panel));

        panel.setSetup(setupWith("fsdp", "torch.optim.SGD"));

        QVERIFY(!labels.front()->isVisibleTo(&panel));
    }

    void whereItIsNotKnownThePanelSaysWhy()
    {
        MemoryPanel panel;

        panel.setSetup(readSetup("model: {class_path: glacier.Net}\n").setup);

        QVERIFY(!panel.findChild<MemoryBar*>()->isVisibleTo(&panel));
        QVERIFY(panel.findChildren<ThemedLabel*>().at(1)->text().startsWith(QStringLiteral("Not known: ")));
    }
};

QTEST_MAIN(TestMemoryPanel)
#include "tst_memory_panel.moc"
