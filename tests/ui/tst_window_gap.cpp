#include "engine/recipe/setup_file.h"
#include "ui/bridge/engine_loader.h"
#include "ui/bridge/window_gap_meter.h"
#include "ui/document/setup_document.h"
#include "ui/pages/navigation.h"
#include "ui/pages/run/run_page.h"
#include "ui/plot/run_plot.h"
#include "ui/theme/appearance.h"

#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

/// On both cores, with more steps than the test waits for.
const char* const kSetup = R"(seed_everything: 1
trainer:
  accelerator: cpu
  devices: 2
  strategy: ddp
  precision: bf16-mixed
  max_steps: 100000
model:
  class_path: mantissa.Transformer
  init_args: {context: 64, width: 96, heads: 4, layers: 2}
data:
  class_path: mantissa.Synthetic
  init_args: {shape: tokens, inputs: 64, classes: 256, batch_size: 16}
optimizer:
  class_path: torch.optim.AdamW
  init_args: {lr: 1.0e-3}
mantissa:
  target: mantissa
  ranks: 2
)";

constexpr double kMostMs = 50.0;
constexpr int kTries = 5; // Another program may take the processor in one of them.

} // namespace

class TestWindowGap : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void theWindowAnswersWhileATransformerTrainsOnAllCores()
    {
        const QTemporaryDir folder;
        const auto plan = planRun(readSetup(kSetup).setup);
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        RunRequest request;
        request.plan = *plan;
        request.setupText = kSetup;
        request.name = "gap";
        request.history = folder.path().toStdString();
        Appearance appearance;
        SetupDocument document;
        Navigation navigation;
        EngineLoader engine([] { return loadTrainingService(ENGINE_PLUGIN); });
        RunPage page({document, engine, navigation, appearance, request.history});
        page.resize(1208, 640);
        page.show();
        emit navigation.runAsked(request);
        QTRY_VERIFY_WITH_TIMEOUT(page.plot().series().lastStep() > 3.0, 60'000);

        WindowGapMeter meter;
        double best = 1e9;
        for (int attempt = 0; attempt < kTries && best > kMostMs; ++attempt) {
            meter.restart();
            QTest::qWait(3000);
            qInfo("longest gap of the event loop: %.1f ms in 3 s, up to step %.0f", meter.longestMs(),
                  page.plot().series().lastStep());
            best = std::min(best, meter.longestMs());
        }

        QVERIFY(best <= kMostMs);
        page.launcher().stop();
        QTRY_VERIFY_WITH_TIMEOUT(page.launcher().settled(), 60'000);
    }
};

QTEST_MAIN(TestWindowGap)
#include "tst_window_gap.moc"
