#include "engine/recipe/scalar.h"

#include <QTest>

#include <cmath>

using namespace mantissa;

Q_DECLARE_METATYPE(Value)

class TestScalar : public QObject {
    Q_OBJECT

private slots:
    void readsWordsAndNumbersAsTheEcosystemDoes_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Value>("value");

        const auto row = [](const char* text, Value value) {
            QTest::newRow(*text ? text : "nothing") << QByteArray(text) << value;
        };
        row("", Null{});
        row("~", Null{});
        row("Null", Null{});
        row("yes", true);
        row("Off", false);
        row("y", "y");
        row("1e-3", 0.001);
        row("3e-4", 0.0003);
        row("2.e-4", 0.0002);
        row("1E5", 1e5);
        row(".5", 0.5);
        row("20_26", 2026);
        row("50_000", 50000);
        row("0x1F", 31);
        row("0b101", 5);
        row("017", 15);
        row("089", "089");
        row("-12", -12);
        row("+7", 7);
        row("1:30", 90);
        row("00:12:00:00", "00:12:00:00");
        row("9223372036854775808", 9223372036854775808.0);
        row("16-mixed", "16-mixed");
        row("1e", "1e");
        row("1.2.3", "1.2.3");
        row("2026-11-30", "2026-11-30");
        row("-", "-");
        row(".inf", INFINITY);
        row("-.INF", -INFINITY);
        row("1e999", INFINITY);
    }

    void readsWordsAndNumbersAsTheEcosystemDoes()
    {
        QFETCH(QByteArray, text);
        QFETCH(Value, value);

        const auto read = resolveScalar(text.toStdString());

        QVERIFY2(read == value, read.text().c_str());
    }

    void aStringReadsBackAsItself_data()
    {
        QTest::addColumn<QByteArray>("text");
        for (const char* text :
             {"fsdp",   "16-mixed", "16",  "1e-3", "true", "no",          "",      "~",        "it's",
              "a: b",   "a #b",     "- x", "[x]",  "{y}",  "line\nbreak", "tab\t", " spaces ", "ä",
              "*alias", "x:",       "a,b", "\"q\""})
            QTest::newRow(*text ? text : "nothing") << QByteArray(text);
    }

    void aStringReadsBackAsItself()
    {
        QFETCH(QByteArray, text);

        const auto written = quotedIfNeeded(text.toStdString());

        const bool plain = written == text.toStdString();
        QVERIFY(plain || written.front() == '\'' || written.front() == '"');
        QCOMPARE(plain, plain && resolveScalar(written).isString());
    }

    void numbersAreWrittenSoThatEveryReaderTakesThemForNumbers()
    {
        QCOMPARE(numberText(1.0), std::string("1.0"));
        QCOMPARE(numberText(1e-5), std::string("1.0e-05"));
        QCOMPARE(numberText(-2.5e30), std::string("-2.5e+30"));
        QCOMPARE(numberText(INFINITY), std::string(".inf"));
        QCOMPARE(resolveScalar(numberText(0.1)).asDouble(), 0.1);
    }
};

QTEST_APPLESS_MAIN(TestScalar)
#include "tst_scalar.moc"
