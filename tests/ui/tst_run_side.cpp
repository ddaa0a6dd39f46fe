#include "ui/pages/run/run_side.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/plain_table.h"

#include <QLabel>
#include <QStandardPaths>
#include <QTest>

#include <algorithm>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

RunEvent eventOf(const char* kind, const char* message)
{
    RunEvent event;
    event.step = 12;
    event.kind = kind;
    event.message = message;
    return event;
}

} // namespace

class TestRunSide : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_appearance = std::make_unique<Appearance>();
    }

    void everyKindOfEventHasItsOwnWord_data()
    {
        QTest::addColumn<QString>("word");
        QTest::newRow("resumed") << "resumed";
        QTest::newRow("not_carried") << "not carried over";
        QTest::newRow("sanity_check") << "validation tried out";
        QTest::newRow("history_lost") << "history lost";
        QTest::newRow("checkpoint_skipped") << "no checkpoint this time";
        QTest::newRow("feed_dropped") << "points not drawn";
    }

    void everyKindOfEventHasItsOwnWord()
    {
        QFETCH(QString, word);
        EventsModel events;

        events.append({eventOf(QTest::currentDataTag(), "…")});

        const auto mark = events.index(0, EventsModel::Mark);
        QCOMPARE(mark.data(Qt::AccessibleTextRole).toString(), word);
        QVERIFY(!mark.data(Qt::DecorationRole).isNull());
    }

    void aLongEventIsShownWhole()
    {
        RunSide side;
        side.resize(328, 600);
        side.show();
        side.addEvents(
            {eventOf("checkpoint", "Short."),
             eventOf("skipped", "The optimizer step is skipped: a gradient of rank 1 is Inf or NaN.")});

        const auto tables = side.findChildren<PlainTable*>();
        const auto events = std::find_if(tables.begin(), tables.end(), [](const PlainTable* table) {
            return table->model()->columnCount() == EventsModel::ColumnCount
                && table->model()->rowCount() == 2;
        });
        QVERIFY(events != tables.end());
        const QFontMetrics metrics((*events)->font());
        for (int row = 0; row < 2; ++row) {
            const auto text = (*events)->model()->index(row, EventsModel::What).data().toString();
            const auto room = QRect(0, 0, (*events)->columnWidth(EventsModel::What) - 8, 1000);
            QVERIFY2((*events)->rowHeight(row) >= metrics.boundingRect(room, Qt::TextWordWrap, text).height(),
                     qPrintable(text));
        }
        QVERIFY((*events)->rowHeight(0) != (*events)->rowHeight(1));
    }

    void whatMemoryIsMadeOfIsInTheTip()
    {
        RunSide side;

        side.addEvents({eventOf("memory",
                                "Memory at most 3.1 MiB (estimated 3), without activations: weights 1, "
                                "gradients 1. Not counted: buffers.")});

        const auto labels = side.findChildren<QLabel*>();
        const auto label = std::find_if(labels.begin(), labels.end(), [](const QLabel* each) {
            return each->text().startsWith(QStringLiteral("Memory"));
        });
        QVERIFY(label != labels.end());
        QCOMPARE((*label)->text(),
                 QStringLiteral("Memory at most 3.1 MiB (estimated 3), without activations."));
        QVERIFY((*label)->toolTip().contains(QStringLiteral("gradients 1")));
    }

private:
    std::unique_ptr<Appearance> m_appearance;
};

QTEST_MAIN(TestRunSide)
#include "tst_run_side.moc"
