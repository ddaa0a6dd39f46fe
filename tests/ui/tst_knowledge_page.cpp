#include "engine/knowledge/error_record.h"
#include "engine/rules/rule.h"
#include "ui/bridge/engine_loader.h"
#include "ui/document/setup_document.h"
#include "ui/pages/knowledge/knowledge_page.h"
#include "ui/pages/navigation.h"
#include "ui/theme/appearance.h"

#include <QLineEdit>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTest>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

struct Bench {
    Appearance appearance;
    SetupDocument document;
    Navigation navigation;
    EngineLoader engine{[]() -> Result<std::unique_ptr<TrainingService>> { return Error{}; }};
    KnowledgePage page{{document, engine, navigation, appearance, {}}};
};

} // namespace

class TestKnowledgePage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void everyArticleSaysSomethingAndNamesItsSources()
    {
        int articles = 0;
        for (const auto& entry : readShelf()) {
            if (entry.kind != KnowledgeEntry::Kind::Article)
                continue;
            ++articles;
            QVERIFY2(entry.markdown.size() > 1500, qPrintable(entry.id));
            QVERIFY2(entry.markdown.contains(QStringLiteral("## Sources")), qPrintable(entry.id));
        }
        QCOMPARE(articles, 3);
    }

    void everyLinkLeadsSomewhere()
    {
        const auto entries = readShelf();
        static const QRegularExpression link(QStringLiteral("\\]\\((?:rule|entry):([^)]+)\\)"));
        for (const auto& entry : entries) {
            for (auto match = link.globalMatch(entry.markdown); match.hasNext();) {
                const auto id = match.next().captured(1);
                QVERIFY2(std::any_of(entries.begin(), entries.end(),
                                     [&](const KnowledgeEntry& each) { return each.id == id; }),
                         qPrintable(entry.id + QStringLiteral(" → ") + id));
            }
        }
    }

    void everyRecordIsRecognisedByItsOwnMessageAndNamesRulesThatExist()
    {
        int records = 0;
        for (const auto& entry : readShelf()) {
            if (entry.kind != KnowledgeEntry::Kind::Record)
                continue;
            ++records;
            const QRegularExpression pattern(QString::fromStdString(entry.record.messagePattern));
            QVERIFY2(pattern.isValid(), qPrintable(entry.id));
            QVERIFY2(pattern.match(QString::fromStdString(entry.record.errorMessage)).hasMatch(),
                     qPrintable(entry.id));
            QVERIFY2(!entry.record.solutions.empty(), qPrintable(entry.id));
            for (const auto& rule : entry.record.rules)
                QVERIFY2(ruleWithId(rule), rule.c_str());
        }
        QVERIFY(records >= 10);
    }

    void aPastedErrorFindsItsRecord()
    {
        Bench bench;
        bench.page.search().setText(QStringLiteral("NotImplementedError: Gradient clipping is not "
                                                   "implemented for optimizers handling the unscaling."));

        QCOMPARE(bench.page.shownCount(), 1);
    }

    void aFailureOfARunIsExplainedByItsRecord()
    {
        QCOMPARE(explanationOf(
                     QStringLiteral("Rank 0 failed at Unscale in step 0: NotImplementedError: Gradient "
                                    "clipping is not implemented for optimizers handling the unscaling.")),
                 QStringLiteral("fabric-clip-self-unscaling-fsdp"));
        QVERIFY(
            explanationOf(QStringLiteral("Rank 1 failed at Backward in step 3: out of memory")).isEmpty());
    }

    void aRuleThatIsAskedForIsShown()
    {
        Bench bench;

        emit bench.navigation.ruleAsked(QStringLiteral("fsdp-clip-norm"));

        QCOMPARE(bench.page.openId(), QStringLiteral("fsdp-clip-norm"));
        QVERIFY(bench.page.articleText().contains(QStringLiteral("fsdp-clip-norm")));
        QVERIFY(bench.page.factsText().contains(QStringLiteral("The precision interface under FSDP")));
    }

    void aFindingOfTheOpenSetUpIsSaidWithItsRule()
    {
        Bench bench;
        bench.document.startFrom(
            "trainer:\n  precision: 16-mixed\n  strategy: fsdp\n  gradient_clip_val: 1.0\n",
            QStringLiteral("mine.yaml"));

        QVERIFY(bench.page.open(QStringLiteral("fsdp-clip-norm")));

        QVERIFY2(bench.page.factsText().contains(QStringLiteral("Show it in mine.yaml")),
                 qPrintable(bench.page.factsText()));
    }

    void recordsOfOthersAreReadInBothForms()
    {
        const auto bare =
            readErrorRecord(R"({"schemaVersion":2,"id":"1","errorMessage":"m","solutions":"one"})");
        QVERIFY(bare);
        QCOMPARE(bare->solutions.size(), std::size_t{1});
        const auto wrapped =
            readErrorRecord(R"({"record":{"schemaVersion":2,"id":"1","errorMessage":"m","lineNumber":7}})");
        QVERIFY(wrapped);
        QCOMPARE(wrapped->lineNumber, 7);
        QVERIFY(!readErrorRecord("[]"));
        QVERIFY(!readErrorRecord(R"({"schemaVersion":9,"id":"1","errorMessage":"m"})"));
        QVERIFY(!readErrorRecord(R"({"schemaVersion":2,"id":"1"})"));
    }
};

QTEST_MAIN(TestKnowledgePage)
#include "tst_knowledge_page.moc"
