#include "ui/pages/compose/diagram_bar.h"

#include "ui/diagram/arrow_item.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/segments.h"

#include <QCoreApplication>
#include <QPainter>

namespace mantissa::ui {
namespace {

/// The dashes and colours of the dtypes.
class DtypeLegend : public QWidget {
public:
    explicit DtypeLegend(QWidget* parent) : QWidget(parent)
    {
        setFont(monoFont(TextSize::Tiny, QFont::DemiBold));
        setAccessibleName(QCoreApplication::translate(
            "DtypeLegend", "Lines: fp32 solid, bf16 long dashes, fp16 short dashes, int dots"));
    }

    QSize sizeHint() const override
    {
        int width = 0;
        for (const auto& name : names())
            width += kLine + 6 + fontMetrics().horizontalAdvance(name) + 12;
        return {width, fontMetrics().height() + 2};
    }
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        int left = 0;
        for (const auto& name : names()) {
            painter.setPen(dtypePen(name));
            painter.drawLine(left, height() / 2, left + kLine, height() / 2);
            painter.setPen(dtypeColour(theme(), name));
            const int advance = fontMetrics().horizontalAdvance(name);
            painter.drawText(QRect(left + kLine + 6, 0, advance + 2, height()), Qt::AlignVCenter, name);
            left += kLine + 6 + advance + 12;
        }
    }

private:
    static constexpr int kLine = 22;
    static QStringList names()
    {
        return {QStringLiteral("fp32"), QStringLiteral("bf16"), QStringLiteral("fp16"),
                QStringLiteral("int")};
    }
};

} // namespace

DiagramBar::DiagramBar(QWidget* parent) : Surface(&Theme::panel, Qt::BottomEdge, parent)
{
    setMinimumHeight(36);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 0, 12, 0);
    row->setSpacing(8);
    row->addWidget(
        new ThemedLabel(tr("Step diagram"), uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, this));
    auto* segments = new Segments({tr("Ranks folded"), tr("All ranks")}, this);
    segments->setAccessibleName(tr("How ranks are shown"));
    connect(segments, &Segments::chosen, this, [this](int index) { emit unfoldedChanged(index == 1); });
    m_segments = segments;
    row->addWidget(segments);
    row->addStretch(1);
    row->addWidget(new DtypeLegend(this));
}

void DiagramBar::setWorldSize(int ranks)
{
    m_segments->setVisible(ranks > 1);
    static_cast<Segments*>(m_segments)
        ->setText(1, ranks == 2 ? tr("Both ranks") : tr("All %1 ranks").arg(ranks));
}

} // namespace mantissa::ui
