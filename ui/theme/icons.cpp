#include "ui/theme/icons.h"

#include "ui/theme/theme.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

namespace mantissa::ui {
namespace {

QPixmap render(const QString& name, QSize size, const QColor& colour, const QColor& hole)
{
    const auto key = QStringLiteral("icon/%1/%2x%3/%4/%5")
                         .arg(name)
                         .arg(size.width())
                         .arg(size.height())
                         .arg(colour.rgba(), 0, 16)
                         .arg(hole.rgba(), 0, 16);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap))
        return pixmap;

    pixmap = QPixmap(size);
    pixmap.fill(Qt::transparent);
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (file.open(QIODevice::ReadOnly)) {
        auto svg = file.readAll();
        svg.replace("currentColor", colour.name().toLatin1()).replace("holeColor", hole.name().toLatin1());
        QPainter painter(&pixmap);
        QSvgRenderer(svg).render(&painter);
    }
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

/// Colours an icon at the moment it is painted, so that it follows a change of theme.
class ThemedIcon : public QIconEngine {
public:
    ThemedIcon(QString name, QColor Theme::*role, QColor colour)
        : m_name(std::move(name)), m_role(role), m_colour(std::move(colour))
    {
    }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override
    {
        paintIcon(*painter, rect, m_name, colourFor(mode, state));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        return render(m_name, size, colourFor(mode, state), theme().panel);
    }

    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override
    {
        return pixmap(size, mode, state);
    }

    QIconEngine* clone() const override { return new ThemedIcon(m_name, m_role, m_colour); }

private:
    QColor colourFor(QIcon::Mode mode, QIcon::State state) const
    {
        if (mode == QIcon::Disabled)
            return theme().text3;
        if (m_role)
            return theme().*m_role;
        if (m_colour.isValid())
            return m_colour;
        return state == QIcon::On ? theme().accent : theme().text2;
    }

    QString m_name;
    QColor Theme::*m_role;
    QColor m_colour;
};

} // namespace

QIcon icon(const QString& name, QColor Theme::*colour)
{
    return QIcon(new ThemedIcon(name, colour, {}));
}

QIcon icon(const QString& name, const QColor& colour)
{
    return QIcon(new ThemedIcon(name, nullptr, colour));
}

void paintIcon(QPainter& painter, const QRectF& rect, const QString& name, const QColor& colour,
               const QColor& hole)
{
    const auto ratio = painter.device() ? painter.device()->devicePixelRatioF() : 1.0;
    const auto pixels = (rect.size() * ratio).toSize();
    auto pixmap = render(name, pixels, colour, hole.isValid() ? hole : theme().panel);
    pixmap.setDevicePixelRatio(ratio);
    painter.drawPixmap(rect.topLeft(), pixmap);
}

} // namespace mantissa::ui
