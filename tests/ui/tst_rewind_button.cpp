#include "engine/recipe/setup_file.h"
#include "ui/bridge/engine_loader.h"
#include "ui/bridge/run_request.h"
#include "ui/document/setup_document.h"
#include "ui/main_window.h"
#include "ui/models/events_model.h"
#include "ui/pages/history/history_page.h"
#include "ui/pages/history/stored_view.h"
#include "ui/pages/navigation.h"
#include "ui/pages/run/run_page.h"
#include "ui/plot/run_plot.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/panels.h"

#include <QLabel>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

/// Rank 1 gets an Inf at step 20, and a checkpoint lies before it.
const char* const kSetup = R"(seed_everything: 1
trainer:
  accelerator: cpu
  devices: 2
  strategy: ddp
  precision: 16-mixed
  max_steps: 30
  callbacks:
    - class_path: lightning.pytorch.callbacks.ModelCheckpoint
      init_args: {every_n_train_steps: 10, save_top_k: -1}
model:
  class_path: mantissa.MLP
data:
  class_path: mantissa.Synthetic
  init_args: {batch_size: 16}
optimizer:
  class_path: torch.optim.AdamW
  init_args: {lr: 1.0e-3}
mantissa:
  target: mantissa
  ranks: 2
  scaler: {init_scale: 4096.0}
  inject:
    - {step: 20, rank: 1, kind: inf}
)";

} // namespace

class TestRewindButton : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void aReplayOfARealRunNamesWhereItBegan()
    {
        const QTemporaryDir folder;
        const auto history = folder.path().toStdString();
        Appearance appearance;
        SetupDocument document;
        Navigation navigation;
        EngineLoader engine([] { return loadTrainingService(ENGINE_PLUGIN); });
        MainWindow window({document, engine, navigation, appearance, history});
        window.show();
        auto& run = *static_cast<RunPage*>(window.page(QStringLiteral("run")));
        auto& stored = static_cast<HistoryPage*>(window.page(QStringLiteral("history")))->view();
        const auto request = requestFor(kSetup, "overflow", history);
        QVERIFY2(request, request ? "" : request.error().message.c_str());
        emit navigation.runAsked(*request);
        QTRY_VERIFY_WITH_TIMEOUT(run.plot().series().lastStep() > 28.0 && run.launcher().settled(), 60'000);
        const auto first = run.launcher().run()->folder();

        emit navigation.storedRunAsked(QString::fromStdString(first.string()));
        const auto tools = stored.findChildren<QToolButton*>();
        const auto rewind = std::find_if(tools.begin(), tools.end(), [](const QToolButton* tool) {
            return tool->text() == QStringLiteral("Find the origin");
        });
        QTRY_VERIFY((*rewind)->isVisible() && (*rewind)->isEnabled());
        (*rewind)->click();

        QTRY_VERIFY_WITH_TIMEOUT(
            run.isVisible() && run.launcher().run() && run.launcher().run()->folder() != first, 60'000);
        auto* bar = run.findChild<MessageBar*>();
        QTRY_VERIFY_WITH_TIMEOUT(bar->isVisible(), 60'000);
        const auto said = bar->findChild<QLabel*>()->text();
        QVERIFY2(said.contains(QStringLiteral("The same run")), qPrintable(said));
        QVERIFY2(said.contains(QStringLiteral("layer, rank and batch")), qPrintable(said));
        QStringList kinds;
        const auto* events = run.findChildren<QTableView*>().last()->model();
        for (int row = 0; row < events->rowCount(); ++row)
            kinds << events->index(row, EventsModel::Mark).data(Qt::AccessibleTextRole).toString();
        QVERIFY2(kinds.contains(QStringLiteral("began here")), qPrintable(kinds.join(u',')));
        QVERIFY2(kinds.contains(QStringLiteral("resumed")), qPrintable(kinds.join(u',')));
    }
};

QTEST_MAIN(TestRewindButton)
#include "tst_rewind_button.moc"
