#include "ui/widgets/panels.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"

#include <QEvent>
#include <QPainter>
#include <QToolButton>

namespace mantissa::ui {

Surface::Surface(QColor Theme::*fill, Qt::Edges borders, QWidget* parent)
    : QWidget(parent), m_fill(fill), m_borders(borders)
{
}

void Surface::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), theme().*m_fill);
    const auto line = theme().border;
    if (m_borders & Qt::TopEdge)
        painter.fillRect(0, 0, width(), 1, line);
    if (m_borders & Qt::BottomEdge)
        painter.fillRect(0, height() - 1, width(), 1, line);
    if (m_borders & Qt::LeftEdge)
        painter.fillRect(0, 0, 1, height(), line);
    if (m_borders & Qt::RightEdge)
        painter.fillRect(width() - 1, 0, 1, height(), line);
}

PageHeader::PageHeader(QWidget* parent)
    : Surface(&Theme::panel, Qt::BottomEdge, parent), m_row(new QHBoxLayout(this))
{
    setMinimumHeight(48);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_row->setContentsMargins(12, 0, 12, 0);
    m_row->setSpacing(8);
}

void PageHeader::addSeparator()
{
    m_row->addWidget(new GroupSeparator(this));
}

GroupSeparator::GroupSeparator(QWidget* parent) : QWidget(parent)
{
    setFixedSize(9, 20);
}

void GroupSeparator::paintEvent(QPaintEvent*)
{
    QPainter(this).fillRect(4, 0, 1, height(), theme().border);
}

ThemedLabel::ThemedLabel(const QString& text, const QFont& font, QColor Theme::*colour, QWidget* parent)
    : QLabel(text, parent), m_colour(colour)
{
    setFont(font);
    recolour();
}

void ThemedLabel::setColour(QColor Theme::*colour)
{
    m_colour = colour;
    recolour();
}

void ThemedLabel::changeEvent(QEvent* event)
{
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
        recolour();
}

void ThemedLabel::recolour()
{
    auto colours = palette();
    colours.setColor(QPalette::WindowText, theme().*m_colour);
    setPalette(colours);
}

MessageBar::MessageBar(QWidget* parent) : Surface(&Theme::stopWeak, Qt::BottomEdge, parent)
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(36, 6, 6, 6);
    m_text = new QLabel(this);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setFont(uiFont(TextSize::Small));
    row->addWidget(m_text, 1);
    auto* close = new QToolButton(this);
    close->setIcon(icon(QStringLiteral("close")));
    close->setToolTip(tr("Dismiss"));
    close->setAccessibleName(tr("Dismiss"));
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    row->addWidget(close, 0, Qt::AlignTop);
    hide();
}

void MessageBar::showError(const Error& error)
{
    m_isError = true;
    const auto hint = QString::fromStdString(error.hint).toHtmlEscaped();
    m_text->setText(
        QStringLiteral("<b>%1</b> %2").arg(QString::fromStdString(error.message).toHtmlEscaped(), hint));
    show();
}

void MessageBar::showNote(const QString& text)
{
    m_isError = false;
    m_text->setText(text.toHtmlEscaped());
    show();
}

void MessageBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto fill = m_isError ? theme().stopWeak : theme().accentWeak;
    const auto ink = m_isError ? theme().stop : theme().accent;
    painter.fillRect(rect(), fill);
    painter.fillRect(0, height() - 1, width(), 1, theme().border);
    paintIcon(painter, QRectF(12, (height() - 16) / 2.0, 16, 16),
              m_isError ? QStringLiteral("stop_sign") : QStringLiteral("info"), ink, fill);
}

} // namespace mantissa::ui
