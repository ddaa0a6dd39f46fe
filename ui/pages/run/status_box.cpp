#include "ui/pages/run/status_box.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QResizeEvent>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

bool isTinted(Tone tone)
{
    return tone == Tone::Warn || tone == Tone::Stop;
}

} // namespace

StatusBox::StatusBox(QWidget* parent)
    : QWidget(parent), m_sentence(new QLabel(this)), m_detail(new QLabel(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(38, 9, 14, 9);
    column->setSpacing(3);
    for (auto* label : {m_sentence, m_detail}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(label);
    }
    m_sentence->setFont(uiFont(TextSize::Base, QFont::DemiBold));
    m_detail->setFont(uiFont(TextSize::Small));
    recolour();
}

void StatusBox::setWords(const RunWords& words)
{
    m_words = words;
    m_sentence->setText(words.sentence);
    m_detail->setText(words.detail);
    m_detail->setVisible(!words.detail.isEmpty());
    recolour();
    fitHeight();
    update();
}

/// Told to the layout outright: what wraps is else cut off where the words change while a run goes on.
void StatusBox::fitHeight()
{
    layout()->invalidate();
    setMinimumHeight(layout()->heightForWidth(width()));
}

void StatusBox::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (event->oldSize().width() != width())
        fitHeight();
}

void StatusBox::recolour()
{
    auto palette = m_sentence->palette();
    palette.setColor(QPalette::WindowText, theme().text);
    m_sentence->setPalette(palette);
    palette.setColor(QPalette::WindowText, theme().text2);
    m_detail->setPalette(palette);
}

void StatusBox::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        recolour();
}

void StatusBox::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto colours = toneColours(theme(), m_words.tone);
    const auto fill = isTinted(m_words.tone) ? colours.fill : theme().panel;
    painter.fillRect(rect(), fill);
    painter.fillRect(0, height() - 1, width(), 1, theme().border);
    const auto shape = toneIcon(m_words.tone);
    if (!shape.isEmpty())
        paintIcon(painter, QRectF(14, 10, 16, 16), shape, colours.ink, fill);
}

} // namespace mantissa::ui
