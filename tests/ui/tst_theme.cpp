#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

#include <QDir>
#include <QSvgRenderer>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace mantissa::ui;

namespace {

double channel(double value)
{
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& colour)
{
    return 0.2126 * channel(colour.redF()) + 0.7152 * channel(colour.greenF())
        + 0.0722 * channel(colour.blueF());
}

double contrast(const QColor& a, const QColor& b)
{
    const double first = luminance(a) + 0.05;
    const double second = luminance(b) + 0.05;
    return std::max(first, second) / std::min(first, second);
}

struct Pair {
    const char* name;
    QColor Theme::*ink;
    QColor Theme::*ground;
};

const Pair kText[] = {
    {"text on window", &Theme::text, &Theme::window},
    {"text on panel", &Theme::text, &Theme::panel},
    {"text on sunken", &Theme::text, &Theme::sunken},
    {"text on hover", &Theme::text, &Theme::hover},
    {"text-2 on window", &Theme::text2, &Theme::window},
    {"text-2 on panel", &Theme::text2, &Theme::panel},
    {"text-2 on canvas", &Theme::text2, &Theme::canvas},
    {"text-2 on sunken", &Theme::text2, &Theme::sunken},
    {"text-3 on panel", &Theme::text3, &Theme::panel},
    {"text-3 on canvas", &Theme::text3, &Theme::canvas},
    {"text-3 on sunken", &Theme::text3, &Theme::sunken},
    {"accent on panel", &Theme::accent, &Theme::panel},
    {"accent on window", &Theme::accent, &Theme::window},
    {"accent on accent-weak", &Theme::accent, &Theme::accentWeak},
    {"on-accent on accent", &Theme::onAccent, &Theme::accent},
    {"stop on panel", &Theme::stop, &Theme::panel},
    {"stop on stop-weak", &Theme::stop, &Theme::stopWeak},
    {"text on stop-weak", &Theme::text, &Theme::stopWeak},
    {"warn on panel", &Theme::warn, &Theme::panel},
    {"warn on warn-weak", &Theme::warn, &Theme::warnWeak},
    {"waste on panel", &Theme::waste, &Theme::panel},
    {"info on panel", &Theme::info, &Theme::panel},
    {"ok on panel", &Theme::ok, &Theme::panel},
    {"ok on ok-weak", &Theme::ok, &Theme::okWeak},
    {"fp32 on canvas", &Theme::fp32, &Theme::canvas},
    {"tf32 on canvas", &Theme::tf32, &Theme::canvas},
    {"bf16 on canvas", &Theme::bf16, &Theme::canvas},
    {"fp16 on canvas", &Theme::fp16, &Theme::canvas},
    {"fp8 on canvas", &Theme::fp8, &Theme::canvas},
    {"int on canvas", &Theme::integer, &Theme::canvas},
    {"text-2 on fp32-weak", &Theme::text2, &Theme::fp32Weak},
    {"text-2 on bf16-weak", &Theme::text2, &Theme::bf16Weak},
    {"text-2 on fp16-weak", &Theme::text2, &Theme::fp16Weak},
    {"text-2 on int-weak", &Theme::text2, &Theme::integerWeak},
};

} // namespace

class TestTheme : public QObject {
    Q_OBJECT

private slots:
    void textStandsOutFromItsGround_data()
    {
        QTest::addColumn<QColor>("ink");
        QTest::addColumn<QColor>("ground");
        for (const bool dark : {false, true}) {
            const auto theme = shippedTheme(dark);
            for (const auto& pair : kText)
                QTest::addRow("%s, %s", dark ? "dark" : "light", pair.name)
                    << theme.*pair.ink << theme.*pair.ground;
        }
    }

    void textStandsOutFromItsGround()
    {
        QFETCH(QColor, ink);
        QFETCH(QColor, ground);

        QVERIFY2(contrast(ink, ground) >= 4.5, qPrintable(QString::number(contrast(ink, ground))));
    }

    void aThemeWithoutAColourIsRefused()
    {
        const auto theme = readTheme("{\"name\":\"half\",\"colours\":{\"window\":\"#ffffff\"}}");

        QVERIFY(!theme);
        QVERIFY(theme.error().message.find("panel") != std::string::npos);
    }

    void everyIconIsADrawingOnTheGrid()
    {
        const QDir icons(QStringLiteral(":/icons"));
        QVERIFY(icons.count() > 30);
        for (const auto& name : icons.entryList()) {
            if (name == QStringLiteral("mantissa.svg"))
                continue;
            QSvgRenderer renderer(icons.filePath(name));
            QVERIFY2(renderer.isValid(), qPrintable(name));
            QCOMPARE(renderer.viewBox(), QRect(0, 0, 16, 16));
        }
    }

    void dtypesKeepTheirColours()
    {
        const auto light = shippedTheme(false);

        QCOMPARE(dtypeColour(light, u"bf16"), light.bf16);
        QCOMPARE(dtypeColour(light, u"fp8e4m3"), light.fp8);
        QCOMPARE(dtypeColour(light, u"int64"), light.integer);
        QVERIFY(seriesColour(light, 0) != seriesColour(light, 1));
    }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
