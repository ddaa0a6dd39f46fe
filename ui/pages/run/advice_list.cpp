#include "ui/pages/run/advice_list.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/pill_label.h"

#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

class Card : public QWidget {
public:
    Card(bool best, QWidget* parent) : QWidget(parent), m_best(best) {}

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        paintBox(painter, QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5),
                 m_best ? theme().accentWeak : theme().panel, m_best ? theme().accent : theme().border);
    }

private:
    bool m_best;
};

} // namespace

AdviceList::AdviceList(QWidget* parent) : Surface(&Theme::panel, {}, parent)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* scroll = makeColumnScroll(this);
    m_inner = new Surface(&Theme::panel, {}, scroll);
    new QVBoxLayout(m_inner);
    m_inner->layout()->setContentsMargins(14, 10, 14, 10);
    m_inner->layout()->setSpacing(8);
    scroll->setWidget(m_inner);
    column->addWidget(scroll);
}

void AdviceList::setAdvice(const std::vector<FailureAdvice>& advice)
{
    auto* column = static_cast<QVBoxLayout*>(m_inner->layout());
    emptyLayout(*column);
    column->addWidget(
        new ThemedLabel(tr("What to do"), uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, m_inner));
    bool best = true;
    for (const auto& each : advice)
        column->addWidget(makeCard(each, std::exchange(best, false)));
    column->addStretch(1);
}

QWidget* AdviceList::makeCard(const FailureAdvice& advice, bool best)
{
    auto* card = new Card(best, m_inner);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(10, 8, 10, 8);
    column->setSpacing(4);
    auto* head = new QHBoxLayout;
    auto* title = new ThemedLabel(advice.title, uiFont(TextSize::Small, QFont::DemiBold), &Theme::text, card);
    title->setWordWrap(true);
    head->addWidget(title, 1);
    if (!advice.tag.isEmpty()) {
        auto* tag = new PillLabel(card);
        tag->setContent(Tone::Neutral, advice.tag);
        head->addWidget(tag, 0, Qt::AlignTop);
    }
    column->addLayout(head);
    auto* text = new ThemedLabel(advice.text, uiFont(TextSize::Small), &Theme::text2, card);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(text);
    if (advice.resumes) {
        auto* resume = new QPushButton(icon(QStringLiteral("play")), tr("Resume…"), card);
        resume->setFont(uiFont(TextSize::Small, QFont::Medium));
        connect(resume, &QPushButton::clicked, this, &AdviceList::resumeAsked);
        column->addWidget(resume, 0, Qt::AlignLeft);
    }
    if (advice.draft.isEmpty())
        return card;
    auto* open = new QPushButton(icon(QStringLiteral("compose")), tr("Open as draft"), card);
    open->setFont(uiFont(TextSize::Small, QFont::Medium));
    open->setAccessibleName(tr("%1: open as draft").arg(advice.title));
    connect(open, &QPushButton::clicked, this, [this, yaml = advice.draft] { emit draftAsked(yaml); });
    column->addWidget(open, 0, Qt::AlignLeft);
    return card;
}

} // namespace mantissa::ui
