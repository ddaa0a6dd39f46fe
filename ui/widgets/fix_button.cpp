#include "ui/widgets/fix_button.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"

#include <QEnterEvent>
#include <QKeyEvent>
#include <QPainter>

#include <chrono>

namespace mantissa::ui {
namespace {

constexpr int kPadding = 8;
constexpr int kGap = 6;
constexpr int kIcon = 14;
constexpr int kWidestTitle =
    420; ///< Longer ones are elided: the button fits into a row of the smallest window.
constexpr auto kPreviewDelay = std::chrono::milliseconds(120);

QFont tagFont()
{
    return uiFont(TextSize::Tiny, QFont::Medium);
}

} // namespace

QString gradeText(FixGrade grade)
{
    switch (grade) {
    case FixGrade::Safe:
        return FixButton::tr("safe");
    case FixGrade::Changes:
        return FixButton::tr("changes numerics");
    case FixGrade::Manual:
        break;
    }
    return FixButton::tr("manual");
}

FixButton::FixButton(const Fix& fix, QWidget* parent)
    : QAbstractButton(parent), m_safe(fix.grade == FixGrade::Safe), m_tag(gradeText(fix.grade))
{
    setText(QString::fromStdString(fix.title));
    setFont(uiFont(TextSize::Small, QFont::Medium));
    setAccessibleName(QStringLiteral("%1, %2").arg(text(), m_tag));
    setToolTip(QString::fromStdString(fix.text.empty() ? fix.title : fix.title + "\n" + fix.text));
    setAttribute(Qt::WA_Hover);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_delay.setSingleShot(true);
    m_delay.setInterval(kPreviewDelay);
    connect(&m_delay, &QTimer::timeout, this, [this] {
        m_previewing = true;
        update();
        emit previewStarted();
    });
}

QSize FixButton::sizeHint() const
{
    const int title = std::min(kWidestTitle, QFontMetrics(font()).horizontalAdvance(text()));
    const int tag = QFontMetrics(tagFont()).horizontalAdvance(m_tag);
    return {2 * kPadding + (m_safe ? kIcon + kGap : 0) + title + 2 * kGap + 1 + tag + 2,
            std::max(24, QFontMetrics(font()).height() + 8)};
}

void FixButton::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto& colours = theme();
    const bool lit = m_previewing || isDown() || underMouse();
    const auto ink = lit ? colours.accent : colours.text;
    paintBox(painter, rect(), lit ? colours.accentWeak : colours.raised,
             showsFocus(*this) ? QPen(colours.accent, 2)
                               : QPen(lit ? colours.accent : colours.borderStrong, 1));
    int left = kPadding;
    if (m_safe) {
        paintIcon(painter, QRectF(left, (height() - kIcon) / 2.0, kIcon, kIcon), QStringLiteral("wand"), ink);
        left += kIcon + kGap;
    }
    painter.setFont(font());
    painter.setPen(ink);
    const int title = std::min(kWidestTitle, QFontMetrics(font()).horizontalAdvance(text())) + 1;
    painter.drawText(QRect(left, 0, title + 2, height()), Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetrics(font()).elidedText(text(), Qt::ElideRight, title));
    left += title + kGap;
    painter.fillRect(left, 5, 1, height() - 10, lit ? colours.accentLine : colours.border);
    painter.setFont(tagFont());
    painter.setPen(lit ? colours.accent : colours.text3);
    painter.drawText(QRect(left + kGap + 1, 0, width() - left, height()), Qt::AlignVCenter | Qt::AlignLeft,
                     m_tag);
}

void FixButton::start()
{
    if (!m_previewing)
        m_delay.start();
}

void FixButton::end()
{
    m_delay.stop();
    if (!std::exchange(m_previewing, false))
        return;
    update();
    emit previewEnded();
}

void FixButton::enterEvent(QEnterEvent* event)
{
    QAbstractButton::enterEvent(event);
    start();
}

void FixButton::leaveEvent(QEvent* event)
{
    QAbstractButton::leaveEvent(event);
    if (!hasFocus())
        end();
}

void FixButton::focusInEvent(QFocusEvent* event)
{
    QAbstractButton::focusInEvent(event);
    start();
}

void FixButton::focusOutEvent(QFocusEvent* event)
{
    QAbstractButton::focusOutEvent(event);
    if (!underMouse())
        end();
}

void FixButton::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        click();
    else if (event->key() == Qt::Key_Escape)
        end();
    else
        QAbstractButton::keyPressEvent(event);
}

} // namespace mantissa::ui
