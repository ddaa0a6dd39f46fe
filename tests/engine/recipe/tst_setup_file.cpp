#include "engine/recipe/fields.h"
#include "engine/recipe/setup_file.h"

#include <QElapsedTimer>
#include <QTest>

using namespace mantissa;

namespace {

std::string placeOf(const SourceProblem& problem)
{
    return std::to_string(problem.span.begin.line) + ":" + std::to_string(problem.span.begin.column) + " "
        + problem.id;
}

std::string textAt(std::string_view text, const SourceSpan& span)
{
    return std::string(text.substr(span.begin.offset, span.end.offset - span.begin.offset));
}

std::string repeated(std::string_view part, int times)
{
    std::string text;
    for (int i = 0; i < times; ++i)
        text += part;
    return text;
}

} // namespace

class TestSetupFile : public QObject {
    Q_OBJECT

private slots:
    void readsASetupAsTheEcosystemDoes()
    {
        const auto file =
            readSetup("seed_everything: 7\n"
                      "trainer:\n"
                      "  precision: '16-mixed'\n"
                      "  max_steps: 20_00\n"
                      "  gradient_clip_val: null\n"
                      "  accumulate_grad_batches: \"2\"\n"
                      "  enable_checkpointing: off\n"
                      "optimizer: {class_path: torch.optim.SGD, init_args: {lr: 1e-3, momentum: .9}}\n");

        QVERIFY(file.problems.empty());
        QCOMPARE(
            file.setup.root().text(),
            std::string("{seed_everything: 7, trainer: {precision: 16-mixed, max_steps: 2000, "
                        "gradient_clip_val: null, "
                        "accumulate_grad_batches: 2, enable_checkpointing: false}, optimizer: {class_path: "
                        "torch.optim.SGD, init_args: {lr: 0.001, momentum: 0.9}}}"));
    }

    void anEmptyFileIsAnEmptySetup()
    {
        for (const char* text : {"", "\n\n", "# nothing yet\n", "---\n", "\xef\xbb\xbf"}) {
            const auto file = readSetup(text);
            QVERIFY2(file.problems.empty(), text);
            QCOMPARE(file.setup, Setup());
        }
    }

    void settingsKnowTheirPlaces()
    {
        const std::string text = "\xef\xbb\xbf# Größe\r\n"
                                 "trainer: # ö\r\n"
                                 "  callbacks:\r\n"
                                 "  - class_path: a.Übung   # c\r\n"
                                 "    init_args: {x: [1, 'ü' ],  y: }\r\n"
                                 "  precision: \"16-mixed\"\r\n"
                                 "mantissa:\r\n"
                                 "  notes: |\r\n"
                                 "    two\r\n"
                                 "    lines\r\n"
                                 "\r\n"
                                 "seed_everything: &s !!int 5\r\n";
        const auto file = readSetup(text);
        QVERIFY(file.problems.empty());
        const auto value = [&](const char* path) {
            const auto* entry = file.map.find(path);
            return entry ? textAt(text, entry->value) : std::string("(missing)");
        };

        QCOMPARE(value("trainer.callbacks[0].class_path"), std::string("a.Übung"));
        QCOMPARE(value("trainer.callbacks[0].init_args"), std::string("{x: [1, 'ü' ],  y: }"));
        QCOMPARE(value("trainer.callbacks[0].init_args.x[1]"), std::string("'ü'"));
        QCOMPARE(value("trainer.callbacks[0].init_args.y"), std::string(""));
        QCOMPARE(value("trainer.precision"), std::string("\"16-mixed\""));
        QCOMPARE(value("mantissa.notes"), std::string("|\r\n    two\r\n    lines"));
        QCOMPARE(value("seed_everything"), std::string("5"));
        const auto* y = file.map.find("trainer.callbacks[0].init_args.y");
        QCOMPARE(y->key.begin, (SourcePoint{5, 32, y->key.begin.offset})); // Columns count ü once.
        QCOMPARE(file.map.nearest("trainer.callbacks[0].init_args.x[1].z"),
                 file.map.find("trainer.callbacks[0].init_args.x[1]"));
    }

    void aliasesAndMergesAreReadAndMarked()
    {
        const std::string text = "model: &m {width: 1, depth: 2}\n"
                                 "data:\n"
                                 "  <<: [*m, {depth: 9, extra: 3}]\n"
                                 "  width: 5\n"
                                 "optimizer: *m\n";

        const auto file = readSetup(text);

        QCOMPARE(file.setup.at("data").text(), std::string("{width: 5, depth: 2, extra: 3}"));
        QCOMPARE(file.setup.at("optimizer.depth").asInteger(), 2);
        QVERIFY(file.map.find("data.depth")->alias);
        QCOMPARE(textAt(text, file.map.find("data.depth")->value), std::string("*m"));
        QVERIFY(!file.map.find("data.width")->alias);
        QVERIFY(file.map.find("optimizer")->alias);
        QVERIFY(!file.map.find("model.width")->alias);
    }

    void theLastOfTwoBlocksCountsAndTheLossIsSaid()
    {
        const auto file = readSetup(
            "trainer:\n  precision: 16-mixed\n  max_epochs: 3\n# joined\ntrainer:\n  max_epochs: 5\n");

        QCOMPARE(file.setup.at("trainer").text(), std::string("{max_epochs: 5}"));
        QCOMPARE(file.problems.size(), std::size_t{1});
        QCOMPARE(placeOf(file.problems[0]), std::string("5:1 duplicate_key"));
        QVERIFY(file.problems[0].message.find("lines 1 and 5") != std::string::npos);
        QVERIFY(file.problems[0].message.find("precision of the first are lost") != std::string::npos);
        QVERIFY(!file.map.find("trainer.precision"));
    }

    void unknownKeysAreKeptAndReported_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("place");
        QTest::addColumn<QByteArray>("hint");
        const auto row = [](const char* text, const char* place, const char* hint) {
            QTest::newRow(text) << QByteArray(text) << QByteArray(place) << QByteArray(hint);
        };
        row("trainer:\n  device: 2\n", "2:3 unknown_key", "Did you mean devices?");
        row("trainer: {max_epoch: 2}\n", "1:11 unknown_key", "Did you mean max_epochs?");
        row("trainer:\n  track_grad_norm: 2\n", "2:3 unknown_key", "removed in 2.0");
        row("trianer: {}\n", "1:1 unknown_key", "Did you mean trainer?");
        row("precision: 16-mixed\n", "1:1 unknown_key", "trainer.precision");
        row("mantissa: {ranks: 2, fabric: {max_nrom: 1}}\n", "1:31 unknown_key", "Did you mean max_norm?");
        row("model:\n  class_path: mantissa.MLP\n  init_args: {hiden: 8}\n", "3:15 unknown_key",
            "Did you mean hidden?");
        row("model:\n  class_path: mantissa.MLP\n  init_args: {heads: 8}\n", "3:15 unknown_key",
            "Known here: inputs, hidden, classes, layers, weights.");
    }

    void unknownKeysAreKeptAndReported()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, place);
        QFETCH(QByteArray, hint);

        const auto file = readSetup(text.toStdString());

        QCOMPARE(file.problems.size(), std::size_t{1});
        QCOMPARE(placeOf(file.problems[0]), place.toStdString());
        QVERIFY2(file.problems[0].hint.find(hint.toStdString()) != std::string::npos,
                 file.problems[0].hint.c_str());
        QVERIFY(file.setup.has(file.problems[0].path));
    }

    void argumentsOfStrangersAreNotJudged()
    {
        const auto file = readSetup(
            "model:\n  class_path: glacier.Net\n  init_args: {hiden: 8}\n  odd: 1\ndata: {batch: 2}\n");

        QVERIFY(file.problems.empty());
    }

    void hostileTextsAreRefusedAtTheirPlace_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("place");
        const auto row = [](const char* name, const std::string& text, const char* place) {
            QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray(place);
        };
        row("large", std::string((4u << 20) + 1, '#'), "1:1 too_large");
        row("nul", std::string("a: 1\nb: \0c", 10), "2:4 nul_byte");
        row("latin-1", "a: 1\nb: \xfc\n", "2:4 not_utf8");
        row("cut code point", "a: \xe2\x82", "1:4 not_utf8");
        row("tab", "trainer:\n\tprecision: 16\n", "2:1 tab_indentation");
        row("tab after spaces", "trainer:\n  a: 1\n \t b: 2\n", "3:2 tab_indentation");
        row("second document", "a: 1\n---\nb: 2\n", "2:1 second_document");
        row("deep", std::string(200, '[') + std::string(200, ']'), "1:101 too_deep");
        row("cycle", "a: &a [1, *a]\n", "1:11 cycle");
        row("unknown alias", "a: *nobody\n", "1:4 not_yaml");
        row("open quote", "a: 1\nb: \"x\nc: 2\n", "2:4 not_yaml");
        row("open bracket", "a: [1, 2\n", "2:1 not_yaml");
        row("colon twice", "a: 1\nb: c: d\n", "2:5 not_yaml");
        row("list", "- a\n- b\n", "1:1 not_a_map");
        row("word", "hello\n", "1:1 not_a_map");
        row("conflict", "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> theirs\n", "2:1 conflict_markers");
        row("too many", "a: [" + repeated("1,", 100'001) + "]\n", "1:200003 too_many_nodes");
    }

    void hostileTextsAreRefusedAtTheirPlace()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, place);

        const auto file = readSetup(text.toStdString());

        QCOMPARE(file.problems.size(), std::size_t{1});
        QCOMPARE(placeOf(file.problems[0]), place.toStdString());
        QVERIFY(!file.isReadable());
        QVERIFY(!file.problems[0].message.empty() && !file.problems[0].hint.empty());
        QCOMPARE(file.setup, Setup());
    }

    void aSectionOfAnotherKindIsAnErrorAtItsPlace()
    {
        const auto file = readSetup("trainer: [1, 2]\nmodel: 3\ndata: mantissa.FashionMNIST\n"
                                    "optimizer:\n- a\nlr_scheduler: ~\nmantissa: {fabric: yes}\n");

        std::vector<std::string> places;
        for (const auto& problem : file.problems)
            places.push_back(placeOf(problem) + " " + problem.path);
        QCOMPARE(
            places,
            (std::vector<std::string>{"1:10 not_a_section trainer", "2:8 not_a_section model",
                                      "5:1 not_a_section optimizer", "7:20 not_a_section mantissa.fabric"}));
        QVERIFY(file.isReadable());
    }

    void tabsThatYamlAllowsAreRead()
    {
        const auto file = readSetup("trainer: {\n\tprecision: 16-mixed,\t# c\n\t}\nmantissa:\n  notes: |\n   "
                                    " a\n    \tb\nckpt_path:\t2\n");

        QVERIFY2(file.problems.empty(), file.problems.empty() ? "" : file.problems[0].message.c_str());
        QCOMPARE(file.setup.at("mantissa.notes").asString(), std::string("a\n\tb\n"));
    }

    void anAliasBombIsRefusedAtOnce()
    {
        std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
        for (int i = 1; i < 30; ++i) {
            const auto item = "*a" + std::to_string(i - 1) + ", ";
            text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + repeated(item, 9) + "]\n";
        }
        QElapsedTimer timer;
        timer.start();

        const auto file = readSetup(text);

        QCOMPARE(file.problems.size(), std::size_t{1});
        QCOMPARE(file.problems[0].id, std::string("too_many_nodes"));
        QVERIFY(timer.elapsed() < 200);
    }

    void aTagMakesNothing()
    {
        const auto file = readSetup(
            "ckpt_path: !!python/object/apply:os.system ['true']\ndata: !env x\nseed_everything: !!str 5\n");

        QCOMPARE(file.problems.size(), std::size_t{2});
        QCOMPARE(placeOf(file.problems[0]), std::string("1:44 tag"));
        QCOMPARE(placeOf(file.problems[1]), std::string("2:12 tag"));
        QCOMPARE(file.setup.at("ckpt_path").text(), std::string("['true']"));
        QCOMPARE(file.setup.at("seed_everything"), Value("5"));
    }

    void manyKeysAreReadInReasonableTime()
    {
        std::string text = "model:\n";
        for (int i = 0; i < 49'000; ++i)
            text += "  key" + std::to_string(i) + ": " + std::to_string(i) + "\n";
        QElapsedTimer timer;
        timer.start();

        const auto file = readSetup(text);

        QCOMPARE(file.setup.at("model").asMap().size(), std::size_t{49'000});
        QVERIFY2(timer.elapsed() < 5000, QByteArray::number(timer.elapsed()).constData());
    }

    void aFileCutAnywhereIsReadOrRefusedButNeverCrashes()
    {
        const std::string text =
            "trainer: &t\n  callbacks:\n  - class_path: 'a.B'\n    init_args: {x: [1, \"\\u00fc\"], y: *t2}\n"
            "  notes: >-\n    folded\n     more\n? key\n: !!str v\nmodel: {<<: {a: 1}, b: ~}\n...\n";
        for (std::size_t length = 0; length <= text.size(); ++length) {
            const auto cut = readSetup(text.substr(0, length));
            QVERIFY(cut.isReadable() || cut.setup == Setup());
            auto damaged = text;
            if (length < text.size())
                damaged[length] = static_cast<char>(length % 3 == 0 ? '\t' : length % 3 == 1 ? '{' : ':');
            (void)readSetup(damaged);
        }
    }

    void aFileThatCannotBeOpenedIsAnError()
    {
        QCOMPARE(readSetupText("/no/such/file.yaml").error().code, ErrorCode::NotFound);
        QCOMPARE(readSetupText("/").error().code, ErrorCode::Io);
    }
};

QTEST_APPLESS_MAIN(TestSetupFile)
#include "tst_setup_file.moc"
