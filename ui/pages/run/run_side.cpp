#include "ui/pages/run/run_side.h"

#include "ui/pages/run/advice_list.h"
#include "ui/pages/run/status_box.h"
#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/plain_table.h"

#include <QHeaderView>
#include <QPainter>
#include <QProgressBar>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kWidth = 328;
constexpr int kMargin = 14;

/// Flat, in the accent's colour.
class ProgressBar final : public QProgressBar {
public:
    using QProgressBar::QProgressBar;

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const auto ground = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
        painter.setPen(theme().border);
        painter.setBrush(theme().sunken);
        painter.drawRoundedRect(ground, 4, 4);
        const double share = static_cast<double>(value() - minimum()) / std::max(1, maximum() - minimum());
        if (share <= 0.0)
            return;
        painter.setClipRect(QRectF(0, 0, ground.width() * share + 1.0, height()));
        painter.setPen(theme().accent);
        painter.setBrush(theme().accent);
        painter.drawRoundedRect(ground, 4, 4);
    }
};

/// A block of the column, with a line under it.
QVBoxLayout* addBlock(QVBoxLayout& column, QWidget* parent, Qt::Edges borders, int stretch = 0)
{
    auto* block = new Surface(&Theme::panel, borders, parent);
    auto* inner = new QVBoxLayout(block);
    inner->setContentsMargins(kMargin, 10, kMargin, 8);
    inner->setSpacing(4);
    column.addWidget(block, stretch);
    return inner;
}

ThemedLabel* title(const QString& text, QWidget* parent)
{
    return new ThemedLabel(text, uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, parent);
}

} // namespace

RunSide::RunSide(QWidget* parent)
    : Surface(&Theme::panel, Qt::LeftEdge, parent),
      m_events(new EventsModel(this)),
      m_ranks(new RanksModel(this))
{
    setFixedWidth(kWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 0, 0, 0);
    column->setSpacing(0);
    buildProgress(*column);
    m_status = new StatusBox(this);
    column->addWidget(m_status);
    m_losses = new StatusBox(this);
    m_losses->setObjectName(QStringLiteral("losses"));
    column->addWidget(m_losses);
    buildRanks(*column);
    buildEvents(*column);
    m_advice = new AdviceList(this);
    m_advice->hide();
    connect(m_advice, &AdviceList::draftAsked, this, &RunSide::draftAsked);
    connect(m_advice, &AdviceList::resumeAsked, this, &RunSide::resumeAsked);
    column->addWidget(m_advice, 1);
    clear();
}

void RunSide::buildProgress(QVBoxLayout& column)
{
    auto* block = addBlock(column, this, Qt::BottomEdge);
    auto* top = new QHBoxLayout;
    m_step = new ThemedLabel({}, uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, this);
    m_total = new ThemedLabel({}, uiFont(TextSize::Base), &Theme::text2, this);
    m_percent = new ThemedLabel({}, monoFont(TextSize::Small), &Theme::text, this);
    top->addWidget(m_step);
    top->addWidget(m_total, 1);
    top->addWidget(m_percent);
    block->addLayout(top);
    m_bar = new ProgressBar(this);
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(8);
    m_bar->setAccessibleName(tr("Progress of the run"));
    block->addWidget(m_bar);
    auto* bottom = new QHBoxLayout;
    m_left = new ThemedLabel({}, monoFont(TextSize::Small), &Theme::text2, this);
    m_elapsed = new ThemedLabel({}, monoFont(TextSize::Small), &Theme::text2, this);
    bottom->addWidget(m_left, 1);
    bottom->addWidget(m_elapsed);
    block->addLayout(bottom);
}

void RunSide::buildRanks(QVBoxLayout& column)
{
    auto* block = addBlock(column, this, Qt::BottomEdge);
    block->addWidget(title(tr("Ranks"), this));
    auto* table = new PlainTable(20, this);
    m_ranksView = table;
    table->setModel(m_ranks);
    table->setSelectionMode(QAbstractItemView::NoSelection);
    table->setFocusPolicy(Qt::NoFocus);
    table->setAccessibleName(tr("Ranks of the run"));
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(RanksModel::RankNumber, QHeaderView::Stretch);
    table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table->setHeightOfRows(8);
    block->addWidget(table);
    m_remark = new ThemedLabel({}, uiFont(TextSize::Tiny), &Theme::text2, this);
    m_remark->setWordWrap(true);
    block->addWidget(m_remark);
    m_memory = new ThemedLabel({}, uiFont(TextSize::Tiny), &Theme::text2, this);
    m_memory->setWordWrap(true);
    m_memory->hide();
    block->addWidget(m_memory);
}

void RunSide::buildEvents(QVBoxLayout& column)
{
    auto* block = addBlock(column, this, {}, 1);
    m_eventsBlock = block->parentWidget();
    block->addWidget(title(tr("Events"), this));
    m_eventsView = new PlainTable(20, this);
    m_eventsView->setModel(m_events);
    m_eventsView->setAccessibleName(tr("What happened in the run"));
    m_eventsView->setFont(uiFont(TextSize::Tiny));
    auto* header = m_eventsView->horizontalHeader();
    header->hide();
    header->setMinimumSectionSize(20);
    header->setSectionResizeMode(EventsModel::What, QHeaderView::Stretch);
    m_eventsView->setColumnWidth(EventsModel::Mark, 22);
    m_eventsView->setColumnWidth(EventsModel::AtStep, 62);
    m_eventsView->setColumnHidden(EventsModel::Where, true);
    m_eventsView->wrapColumn(EventsModel::What, 3);
    block->addWidget(m_eventsView, 1);
    connect(m_eventsView, &QTableView::activated, this, [this](const QModelIndex& index) {
        emit stepChosen(static_cast<double>(m_events->event(index.row()).step));
    });
    connect(m_eventsView, &QTableView::clicked, m_eventsView, &QTableView::activated);
}

void RunSide::clear()
{
    m_events->clear();
    m_ranks->clear();
    m_remark->setText(tr("Ranks report with their first step."));
    m_memory->hide();
    showAdvice({});
    showProgress({}, -1.0, RunState::Queued);
    showWords({Tone::Info, tr("No run yet."), {}});
}

void RunSide::addEvents(const std::vector<RunEvent>& events)
{
    m_events->append(events);
    for (const auto& event : events) {
        if (event.kind != "memory")
            continue;
        const auto message = QString::fromStdString(event.message);
        m_memory->setText(message.section(QStringLiteral(": "), 0, 0) + u'.');
        m_memory->setToolTip(message);
        m_memory->show();
    }
}

void RunSide::showProgress(const RunProgress& progress, double elapsedSeconds, RunState state)
{
    const auto losses = describeLosses(progress, state);
    m_losses->setVisible(!losses.sentence.isEmpty());
    if (!losses.sentence.isEmpty())
        m_losses->setWords(losses);
    const bool known = state != RunState::Queued || progress.total > 0;
    m_step->setText(known ? tr("Step %1").arg(formatCount(progress.step)) : tr("No step yet"));
    m_total->setText(progress.total > 0 ? tr("of %1").arg(formatCount(progress.total)) : QString());
    m_bar->setRange(0, 1000); // A range of 0 to 0 would move for ever.
    const double share =
        progress.total > 0 ? static_cast<double>(progress.step) / static_cast<double>(progress.total) : 0.0;
    m_bar->setValue(static_cast<int>(share * 1000.0));
    m_percent->setText(progress.total > 0 ? tr("%1 %").arg(static_cast<int>(share * 100.0)) : QString());
    const bool goesOn = state == RunState::Running;
    m_left->setText(goesOn && progress.secondsLeft >= 0.0
                        ? tr("%1 left").arg(formatDuration(progress.secondsLeft))
                        : QString());
    if (elapsedSeconds < 0.0) {
        m_elapsed->clear();
        return;
    }
    auto elapsed = tr("%1 elapsed").arg(formatDuration(elapsedSeconds));
    if (progress.step > 0 && elapsedSeconds > 0.5)
        elapsed +=
            tr(" · %1 steps/s").arg(formatNumber(static_cast<double>(progress.step) / elapsedSeconds, 3));
    m_elapsed->setText(elapsed);
}

void RunSide::showWords(const RunWords& words)
{
    m_status->setWords(words);
}

void RunSide::showRanks(const RunSeries& series)
{
    if (series.isEmpty())
        return; // Nothing is known of them yet, and that is no zero.
    m_ranks->refresh(series);
    m_remark->setText(m_ranks->rowCount() == 0 ? tr("Ranks report with their first step.")
                                               : m_ranks->remark());
}

void RunSide::showAdvice(const std::vector<FailureAdvice>& advice)
{
    m_advice->setAdvice(advice);
    m_advice->setVisible(!advice.empty());
    m_eventsBlock->setVisible(advice.empty());
}

} // namespace mantissa::ui
