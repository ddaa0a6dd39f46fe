#include "ui/pages/compose/start_area.h"

#include "ui/pages/compose/preset_card.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"

#include <QGridLayout>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

constexpr int kAcross = 3;

class DropZone : public QWidget {
public:
    using QWidget::QWidget;

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        paintBox(painter, QRectF(rect()).adjusted(1, 1, -1, -1), theme().window,
                 QPen(theme().borderStrong, 1, Qt::DashLine));
        paintIcon(painter, QRectF(20, height() / 2.0 - 10, 20, 20), QStringLiteral("drop"), theme().text2);
    }
};

} // namespace

StartArea::StartArea(QWidget* parent) : Surface(&Theme::window, {}, parent)
{
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* inner = new Surface(&Theme::window, {}, scroll);
    inner->setMaximumWidth(1400);
    auto* column = new QVBoxLayout(inner);
    column->setContentsMargins(32, 22, 32, 22);
    column->setSpacing(10);
    column->addWidget(new ThemedLabel(tr("Set up a training, see what will fail, run it, keep every run."),
                                      uiFont(TextSize::Article, QFont::DemiBold), &Theme::text, inner));
    column->addWidget(new ThemedLabel(tr("Everything works without a GPU and without a network."), uiFont(),
                                      &Theme::text2, inner));
    column->addSpacing(6);
    column->addWidget(makePresets(true));
    column->addSpacing(6);
    column->addWidget(makePresets(false));
    column->addSpacing(6);
    column->addWidget(makeDropZone());
    column->addStretch(1);
    scroll->setWidget(inner);
    outer->addWidget(scroll);
}

QWidget* StartArea::makePresets(bool good)
{
    auto* box = new QWidget(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    auto* head = new QHBoxLayout;
    head->addWidget(new ThemedLabel(good ? tr("Presets") : tr("Presets that fail"),
                                    uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, box));
    head->addWidget(new ThemedLabel(good ? tr("known good") : tr("on purpose, each with its reason"),
                                    uiFont(TextSize::Small), &Theme::text2, box));
    head->addStretch(1);
    column->addLayout(head);
    auto* grid = new QGridLayout;
    grid->setSpacing(12);
    int index = 0;
    for (const auto& preset : presets()) {
        if (preset.good != good)
            continue;
        auto* card = new PresetCard(preset, box);
        connect(card, &PresetCard::clicked, this, [this, &preset] { emit presetChosen(preset); });
        grid->addWidget(card, index / kAcross, index % kAcross);
        ++index;
    }
    for (int across = 0; across < kAcross; ++across)
        grid->setColumnStretch(across, 1);
    column->addLayout(grid);
    return box;
}

QWidget* StartArea::makeDropZone()
{
    auto* zone = new DropZone(this);
    auto* row = new QHBoxLayout(zone);
    row->setContentsMargins(60, 14, 20, 14);
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    words->addWidget(new ThemedLabel(tr("Drop a LightningCLI YAML here"),
                                     uiFont(TextSize::Base, QFont::Medium), &Theme::text, zone));
    words->addWidget(new ThemedLabel(tr("It opens as it is; nothing is written until you save."),
                                     uiFont(TextSize::Small), &Theme::text2, zone));
    row->addLayout(words, 1);
    auto* open = new QPushButton(icon(QStringLiteral("folder")), tr("Open…"), zone);
    connect(open, &QPushButton::clicked, this, &StartArea::openAsked);
    row->addWidget(open);
    return zone;
}

} // namespace mantissa::ui
