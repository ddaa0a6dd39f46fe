#include "ui/pages/settings/settings_page.h"

#include "ui/bridge/engine_loader.h"
#include "ui/pages/navigation.h"
#include "ui/theme/appearance.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/segments.h"
#include "ui/widgets/tone.h"
#include "ui/widgets/tool_buttons.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QGuiApplication>
#include <QMenu>
#include <QPainter>
#include <QScrollArea>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

constexpr int kMostWidth = 820;
constexpr int kLabelWidth = 200;

Tone toneOf(Examined::Mark mark)
{
    return mark == Examined::Mark::Good ? Tone::Ok : mark == Examined::Mark::Note ? Tone::Info : Tone::Stop;
}

QString markText(Examined::Mark mark)
{
    return mark == Examined::Mark::Good ? SettingsPage::tr("good")
        : mark == Examined::Mark::Note  ? SettingsPage::tr("note")
                                        : SettingsPage::tr("missing");
}

/// The shape of a mark; its word is read to those who do not see it.
class MarkIcon : public QWidget {
public:
    MarkIcon(Examined::Mark mark, QWidget* parent) : QWidget(parent), m_tone(toneOf(mark))
    {
        setFixedSize(16, 16);
        setToolTip(markText(mark));
        setAccessibleName(markText(mark));
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        paintIcon(painter, rect(), toneIcon(m_tone), toneColours(theme(), m_tone).ink, theme().window);
    }

private:
    Tone m_tone;
};

void addTitle(QVBoxLayout& column, const QString& title, QWidget* parent)
{
    column.addSpacing(14);
    column.addWidget(new ThemedLabel(title, uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, parent));
}

ThemedLabel* words(const QString& text, QColor Theme::*colour, QWidget* parent)
{
    auto* label = new ThemedLabel(text, uiFont(TextSize::Small), colour, parent);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

/// Label at the left, the rest beside it, a line below.
QHBoxLayout* addRow(QLayout& column, const QString& label, QWidget* parent)
{
    auto* row = new Surface(&Theme::window, Qt::BottomEdge, parent);
    auto* across = new QHBoxLayout(row);
    across->setContentsMargins(0, 8, 0, 8);
    across->setSpacing(8);
    auto* title = new ThemedLabel(label, uiFont(TextSize::Small, QFont::Medium), &Theme::text, row);
    title->setFixedWidth(kLabelWidth);
    title->setWordWrap(true);
    across->addWidget(title, 0, Qt::AlignTop);
    column.addWidget(row);
    return across;
}

} // namespace

SettingsPage::SettingsPage(const PageServices& services, QWidget* parent) : Page(parent), m_services(services)
{
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    auto* header = new PageHeader(this);
    header->row().addWidget(
        new ThemedLabel(tr("Settings"), uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, header));
    header->row().addStretch(1);
    outer->addWidget(header);
    auto* scroll = makeColumnScroll(this);
    auto* ground = new Surface(&Theme::window, {}, scroll);
    auto* across = new QHBoxLayout(ground);
    across->setContentsMargins(32, 4, 32, 24);
    auto* inner = new QWidget(ground);
    inner->setMaximumWidth(kMostWidth);
    auto* column = new QVBoxLayout(inner);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    addAppearance(*column);
    addHistory(*column);
    addMachine(*column);
    addPrivacy(*column);
    column->addStretch(1);
    across->addWidget(inner, 1);
    across->addStretch(0);
    scroll->setWidget(ground);
    outer->addWidget(scroll, 1);
    connect(&m_services.engine, &EngineLoader::stateChanged, this, [this] {
        if (isVisible())
            look();
    });
}

void SettingsPage::addToMenus(const WindowMenus& menus)
{
    menus.edit->addSeparator();
    menus.edit->addAction(tr("&Settings"), QKeySequence(Qt::CTRL | Qt::Key_Comma), this,
                          [this] { emit m_services.navigation.pageAsked(objectName()); });
}

void SettingsPage::addAppearance(QVBoxLayout& column)
{
    addTitle(column, tr("Appearance"), this);
    auto* row = addRow(column, tr("Theme"), this);
    m_themes = new Segments({tr("System"), tr("Light"), tr("Dark")}, this);
    m_themes->setAccessibleName(tr("Theme"));
    m_themes->setCurrent(static_cast<int>(m_services.appearance.choice()));
    row->addWidget(m_themes);
    row->addWidget(words(tr("System follows the desktop."), &Theme::text2, this), 1);
    connect(m_themes, &Segments::chosen, this,
            [this](int chosen) { m_services.appearance.setChoice(static_cast<ThemeChoice>(chosen)); });
    connect(&m_services.appearance, &Appearance::themeChanged, this,
            [this] { m_themes->setCurrent(static_cast<int>(m_services.appearance.choice())); });
}

void SettingsPage::addHistory(QVBoxLayout& column)
{
    addTitle(column, tr("History"), this);
    auto* row = addRow(column, tr("Folder"), this);
    const auto folder = QString::fromStdString(m_services.history.string());
    auto* path = new ThemedLabel(folder, monoFont(TextSize::Small), &Theme::text, this);
    path->setTextInteractionFlags(Qt::TextSelectableByMouse);
    path->setWordWrap(true);
    path->setToolTip(tr("Another one is chosen when the program starts: mantissa --history FOLDER"));
    row->addWidget(path, 1);
    auto* open = makeToolButton(tr("Open"), QStringLiteral("folder"), "", this);
    row->addWidget(open);
    connect(open, &QToolButton::clicked, this,
            [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
}

void SettingsPage::addMachine(QVBoxLayout& column)
{
    addTitle(column, tr("This machine"), this);
    m_rows = new QWidget(this);
    auto* rows = new QVBoxLayout(m_rows);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    column.addWidget(m_rows);
    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(0, 8, 0, 0);
    auto* again = makeToolButton(tr("Look again"), QStringLiteral("search"), "", this);
    auto* copy = makeToolButton(tr("Copy report"), QStringLiteral("copy"), "", this);
    tools->addWidget(again);
    tools->addWidget(copy);
    tools->addStretch(1);
    column.addLayout(tools);
    connect(again, &QToolButton::clicked, this, &SettingsPage::look);
    connect(copy, &QToolButton::clicked, this, &SettingsPage::copyReport);
}

void SettingsPage::addPrivacy(QVBoxLayout& column)
{
    addTitle(column, tr("Privacy"), this);
    auto* row = addRow(column, tr("Network"), this);
    row->addWidget(words(tr("Nothing is sent and nothing is looked up: the program opens no connection."),
                         &Theme::text, this),
                   1);
}

void SettingsPage::activate()
{
    look();
}

void SettingsPage::look()
{
    auto& engine = m_services.engine;
    if (engine.state() == EngineLoader::State::NotLoaded || engine.state() == EngineLoader::State::Loading) {
        engine.load(); // It tells when it is there.
        return;
    }
    const auto report = engine.state() == EngineLoader::State::Ready ? Result<EngineReport>(engine.report())
                                                                     : Result<EngineReport>(engine.error());
    m_files.run(
        [history = m_services.history, report] {
            return examine({history, {}}, report);
        },
        [this](std::vector<Examined> found) { showReport(std::move(found)); });
}

void SettingsPage::showReport(std::vector<Examined> found)
{
    m_found = std::move(found);
    auto* rows = m_rows->layout();
    emptyLayout(*rows);
    for (const auto& each : m_found) {
        auto* row = addRow(*rows, QString::fromStdString(each.topic), m_rows);
        row->addWidget(new MarkIcon(each.mark, m_rows), 0, Qt::AlignTop);
        auto* texts = new QVBoxLayout;
        texts->setSpacing(2);
        texts->addWidget(words(QString::fromStdString(each.found), &Theme::text, m_rows));
        if (!each.hint.empty())
            texts->addWidget(words(QString::fromStdString(each.hint), &Theme::text2, m_rows));
        row->addLayout(texts, 1);
    }
    emit statusTextChanged();
}

void SettingsPage::copyReport()
{
    QStringList lines;
    for (const auto& each : m_found)
        lines << QStringLiteral("%1: %2: %3 %4")
                     .arg(QString::fromStdString(each.topic), markText(each.mark),
                          QString::fromStdString(each.found), QString::fromStdString(each.hint))
                     .trimmed();
    QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

QString SettingsPage::statusText() const
{
    const auto missing = std::count_if(m_found.begin(), m_found.end(), [](const Examined& each) {
        return each.mark == Examined::Mark::Missing;
    });
    return m_found.empty() ? tr("Looking at this machine")
        : missing > 0      ? tr("Something is missing on this machine")
                           : tr("Nothing is missing on this machine");
}

} // namespace mantissa::ui
