#include "ui/theme/theme.h"

#include "ui/theme/style.h"

#include <QApplication>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>

namespace mantissa::ui {
namespace {

struct Token {
    const char* name;
    QColor Theme::*colour;
};

constexpr std::array kTokens = {
    Token{"window", &Theme::window},
    Token{"panel", &Theme::panel},
    Token{"canvas", &Theme::canvas},
    Token{"raised", &Theme::raised},
    Token{"sunken", &Theme::sunken},
    Token{"hover", &Theme::hover},
    Token{"border", &Theme::border},
    Token{"border-strong", &Theme::borderStrong},
    Token{"grid", &Theme::grid},
    Token{"grid-strong", &Theme::gridStrong},
    Token{"text", &Theme::text},
    Token{"text-2", &Theme::text2},
    Token{"text-3", &Theme::text3},
    Token{"on-accent", &Theme::onAccent},
    Token{"accent", &Theme::accent},
    Token{"accent-weak", &Theme::accentWeak},
    Token{"accent-line", &Theme::accentLine},
    Token{"stop", &Theme::stop},
    Token{"stop-weak", &Theme::stopWeak},
    Token{"stop-line", &Theme::stopLine},
    Token{"warn", &Theme::warn},
    Token{"warn-weak", &Theme::warnWeak},
    Token{"warn-line", &Theme::warnLine},
    Token{"waste", &Theme::waste},
    Token{"info", &Theme::info},
    Token{"ok", &Theme::ok},
    Token{"ok-weak", &Theme::okWeak},
    Token{"ok-line", &Theme::okLine},
    Token{"fp32", &Theme::fp32},
    Token{"tf32", &Theme::tf32},
    Token{"bf16", &Theme::bf16},
    Token{"fp16", &Theme::fp16},
    Token{"fp8", &Theme::fp8},
    Token{"int", &Theme::integer},
    Token{"fp32-weak", &Theme::fp32Weak},
    Token{"tf32-weak", &Theme::tf32Weak},
    Token{"bf16-weak", &Theme::bf16Weak},
    Token{"fp16-weak", &Theme::fp16Weak},
    Token{"fp8-weak", &Theme::fp8Weak},
    Token{"int-weak", &Theme::integerWeak},
    Token{"shadow", &Theme::shadow},
    Token{"plot-muted", &Theme::plotMuted},
};

struct DtypeColours {
    const char* prefix;
    QColor Theme::*line;
    QColor Theme::*weak;
};

constexpr std::array kDtypes = {
    DtypeColours{"fp32", &Theme::fp32, &Theme::fp32Weak},
    DtypeColours{"tf32", &Theme::tf32, &Theme::tf32Weak},
    DtypeColours{"bf16", &Theme::bf16, &Theme::bf16Weak},
    DtypeColours{"fp16", &Theme::fp16, &Theme::fp16Weak},
    DtypeColours{"fp8", &Theme::fp8, &Theme::fp8Weak},
};

const DtypeColours* dtypeEntry(QStringView dtype)
{
    for (const auto& entry : kDtypes)
        if (dtype.startsWith(QLatin1String(entry.prefix)))
            return &entry;
    return nullptr;
}

} // namespace

Result<Theme> readTheme(const QByteArray& json)
{
    const auto root = QJsonDocument::fromJson(json).object();
    const auto colours = root[u"colours"].toObject();
    Theme theme;
    theme.name = root[u"name"].toString();
    theme.dark = root[u"dark"].toBool();
    for (const auto& token : kTokens) {
        const QColor colour(colours[QLatin1String(token.name)].toString());
        if (!colour.isValid())
            return Error{
                ErrorCode::Damaged, std::string("The theme has no colour \"") + token.name + "\".", {}};
        theme.*token.colour = colour;
    }
    return theme;
}

Theme shippedTheme(bool dark)
{
    QFile file(dark ? QStringLiteral(":/themes/dark.json") : QStringLiteral(":/themes/light.json"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("The program was built without its themes.");
    const auto theme = readTheme(file.readAll());
    if (!theme)
        qFatal("%s", theme.error().message.c_str());
    return *theme;
}

const Theme& theme()
{
    static const Theme fallback = shippedTheme(false);
    const auto* style = qobject_cast<const Style*>(QApplication::style());
    return style ? style->theme() : fallback;
}

QPalette paletteOf(const Theme& theme)
{
    QPalette palette(theme.window);
    palette.setColor(QPalette::Window, theme.window);
    palette.setColor(QPalette::WindowText, theme.text);
    palette.setColor(QPalette::Base, theme.panel);
    palette.setColor(QPalette::AlternateBase, theme.sunken);
    palette.setColor(QPalette::Text, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.text3);
    palette.setColor(QPalette::Button, theme.raised);
    palette.setColor(QPalette::ButtonText, theme.text);
    palette.setColor(QPalette::BrightText, theme.stop);
    palette.setColor(QPalette::Highlight, theme.accent);
    palette.setColor(QPalette::HighlightedText, theme.onAccent);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    palette.setColor(QPalette::ToolTipBase, theme.raised);
    palette.setColor(QPalette::ToolTipText, theme.text);
    palette.setColor(QPalette::Light, theme.panel);
    palette.setColor(QPalette::Midlight, theme.hover);
    palette.setColor(QPalette::Mid, theme.border);
    palette.setColor(QPalette::Dark, theme.borderStrong);
    palette.setColor(QPalette::Shadow, theme.borderStrong);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, theme.text3);
    return palette;
}

QColor dtypeColour(const Theme& theme, QStringView dtype)
{
    const auto* entry = dtypeEntry(dtype);
    return entry ? theme.*entry->line : theme.integer;
}

QColor dtypeWeakColour(const Theme& theme, QStringView dtype)
{
    const auto* entry = dtypeEntry(dtype);
    return entry ? theme.*entry->weak : theme.integerWeak;
}

QColor seriesColour(const Theme& theme, int index)
{
    constexpr std::array series = {&Theme::fp32, &Theme::fp16, &Theme::bf16, &Theme::fp8};
    return theme.*series[static_cast<std::size_t>(index) % series.size()];
}

QColor mixed(const QColor& over, const QColor& under, double share)
{
    const auto mix = [share](float a, float b) { return static_cast<float>(a * share + b * (1.0 - share)); };
    return QColor::fromRgbF(mix(over.redF(), under.redF()), mix(over.greenF(), under.greenF()),
                            mix(over.blueF(), under.blueF()));
}

} // namespace mantissa::ui
