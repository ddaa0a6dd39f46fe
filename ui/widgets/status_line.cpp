#include "ui/widgets/status_line.h"

#include "ui/bridge/engine_loader.h"
#include "ui/document/setup_document.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/severity.h"

#include <QPainter>
#include <QToolButton>

namespace mantissa::ui {
namespace {

constexpr std::array kSeverities = {Severity::WontStart, Severity::Stops, Severity::Differs,
                                    Severity::Wasteful, Severity::Info};

/// Counts by severity, each with its shape and its word.
class SeverityCounts : public QWidget {
public:
    using QWidget::QWidget;

    void setFindings(const std::vector<Finding>& findings)
    {
        m_entries.clear();
        QStringList spoken;
        for (const auto severity : kSeverities) {
            const int count = countOf(findings, severity);
            if (count == 0)
                continue;
            const auto text = QStringLiteral("%1 %2").arg(count).arg(severityWord(severity));
            m_entries.push_back({severityTone(severity), text});
            spoken << text;
        }
        if (m_entries.empty()) {
            m_entries.push_back({Tone::Ok, tr("no findings")});
            spoken << tr("no findings");
        }
        setAccessibleName(spoken.join(QStringLiteral(", ")));
        updateGeometry();
        update();
    }

    QSize sizeHint() const override
    {
        int width = 0;
        for (const auto& [tone, text] : m_entries)
            width += 12 + 4 + fontMetrics().horizontalAdvance(text) + 12;
        return {width, fontMetrics().height()};
    }
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        double left = 0;
        for (const auto& [tone, text] : m_entries) {
            paintIcon(painter, QRectF(left, (height() - 12) / 2.0, 12, 12), toneIcon(tone),
                      toneColours(theme(), tone).ink, theme().window);
            painter.setPen(theme().text2);
            const auto advance = fontMetrics().horizontalAdvance(text);
            painter.drawText(QRectF(left + 16, 0, advance + 2, height()), Qt::AlignVCenter, text);
            left += 16 + advance + 12;
        }
    }

private:
    std::vector<std::pair<Tone, QString>> m_entries;
};

} // namespace

StatusLine::StatusLine(SetupDocument& document, EngineLoader& engine, QWidget* parent)
    : Surface(&Theme::window, Qt::TopEdge, parent), m_document(document), m_engine(engine)
{
    const auto font = uiFont(TextSize::Tiny);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 1, 12, 0);
    row->setSpacing(8);
    setFixedHeight(std::max(24, QFontMetrics(font).height() + 8));

    m_counts = new SeverityCounts(this);
    m_counts->setFont(font);
    m_text = new ElidedLabel({}, this);
    m_text->setElideMode(Qt::ElideMiddle);
    m_facts = new QToolButton(this);
    m_facts->setFont(uiFont(TextSize::Tiny, QFont::Medium));
    m_facts->setProperty("role", QStringLiteral("link"));
    m_facts->setFocusPolicy(Qt::StrongFocus);
    m_facts->setCursor(Qt::PointingHandCursor);
    m_engineText = new ElidedLabel({}, this);
    for (auto* label : {m_text, m_engineText}) {
        label->setFont(font);
        label->setForegroundRole(QPalette::PlaceholderText);
    }
    row->addWidget(m_counts);
    row->addWidget(m_text);
    row->addWidget(m_facts);
    row->addStretch(1);
    row->addWidget(m_engineText, 0);

    connect(m_facts, &QToolButton::clicked, this, &StatusLine::factsAsked);
    connect(&m_document, &SetupDocument::changed, this, &StatusLine::showFindings);
    connect(&m_engine, &EngineLoader::stateChanged, this, &StatusLine::showEngine);
    showFindings();
    showEngine();
}

QString StatusLine::text() const
{
    return m_text->isVisible() ? m_text->text() : QString();
}

void StatusLine::setPageText(const QString& text)
{
    m_pageText = text;
    showFindings();
}

void StatusLine::showFindings()
{
    const bool none = m_document.text().empty() && m_document.path().isEmpty();
    const bool own = m_pageText.isEmpty() && !none;
    const bool readable = m_document.isReadable();
    m_counts->setVisible(own && readable);
    m_text->setVisible(!own || !readable);
    const auto assumed = static_cast<int>(m_document.report().assumed.size());
    m_facts->setVisible(own && readable && assumed > 0);
    if (!own)
        m_text->setText(m_pageText.isEmpty() ? tr("No set-up is open") : m_pageText);
    else if (!readable)
        m_text->setText(
            tr("Not checked: the set-up cannot be read, line %1").arg(m_document.failure()->at.line));
    m_facts->setText(assumed == 1 ? tr("1 fact about your module assumed")
                                  : tr("%1 facts about your module assumed").arg(assumed));
    static_cast<SeverityCounts*>(m_counts)->setFindings(m_document.report().findings);
}

void StatusLine::showEngine()
{
    switch (m_engine.state()) {
    case EngineLoader::State::NotLoaded:
    case EngineLoader::State::Loading:
        m_engineText->setText(tr("Engine: loading"));
        break;
    case EngineLoader::State::Ready: {
        const auto& report = m_engine.report();
        QStringList parts{
            tr("Engine: %1, %2")
                .arg(QString::fromStdString(report.name), QString::fromStdString(report.device))};
        for (const auto& note : report.notes)
            parts << QString::fromStdString(note);
        m_engineText->setText(parts.join(QStringLiteral("   ")));
        break;
    }
    case EngineLoader::State::Missing:
        m_engineText->setText(tr("No engine: compose, check and review work, training does not"));
        m_engineText->setToolTip(
            QString::fromStdString(m_engine.error().message + "\n" + m_engine.error().hint));
        break;
    }
}

} // namespace mantissa::ui
