#include "ui/pages/history/history_page.h"

#include "ui/bridge/run_request.h"
#include "ui/pages/history/resume_bar.h"
#include "ui/pages/history/scale_delegate.h"
#include "ui/pages/history/stored_view.h"
#include "ui/pages/navigation.h"
#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/plain_table.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <array>
#include <numeric>

namespace mantissa::ui {
namespace {

constexpr std::chrono::milliseconds kSettle{400};
constexpr std::chrono::milliseconds kRefresh{1500};
constexpr std::array kWidths = {130, 170, 100, 110, 110, 80, 104, 86, 112, 120};
/// They leave a narrow window in this order, so that names stay readable.
constexpr std::array kLeaving = {RunsModel::Started, RunsModel::Scale, RunsModel::Optimizer,
                                 RunsModel::Strategy};

} // namespace

HistoryPage::HistoryPage(const PageServices& services, QWidget* parent)
    : Page(parent), m_services(services), m_runs(new RunsModel(this)), m_filter(new RunsFilter(*m_runs, this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(buildList());
    m_view = new StoredView(this);
    m_stack->addWidget(m_view);
    column->addWidget(m_stack);

    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettle);
    m_refresh.setInterval(kRefresh);
    connect(&m_settle, &QTimer::timeout, this, &HistoryPage::readList);
    connect(&m_refresh, &QTimer::timeout, this, &HistoryPage::refreshRunning);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_settle, qOverload<>(&QTimer::start));
    connect(m_view, &StoredView::backAsked, this, &HistoryPage::showList);
    connect(m_view, &StoredView::explanationAsked, this, [this](const QString& id) {
        emit m_services.navigation.ruleAsked(id);
        emit m_services.navigation.pageAsked(QStringLiteral("knowledge"));
    });
    connect(m_view, &StoredView::resumeAsked, this, &HistoryPage::resume);
    connect(m_view, &StoredView::rewindAsked, this, &HistoryPage::rewind);
    connect(&m_services.navigation, &Navigation::resumeAsked, this, [this](const QString& folder) {
        open(folder.toStdString());
        m_view->askResume();
    });
    connect(m_view, &StoredView::draftAsked, &m_services.navigation, &Navigation::draftAsked);
    connect(&m_services.navigation, &Navigation::storedRunAsked, this,
            [this](const QString& folder) { open(folder.toStdString()); });
    connect(&m_services.navigation, &Navigation::runningChanged, &m_settle, qOverload<>(&QTimer::start));
    connect(m_runs, &QAbstractItemModel::modelReset, this, &HistoryPage::showCounts);
}

HistoryPage::~HistoryPage() = default;

QWidget* HistoryPage::buildList()
{
    auto* list = new Surface(&Theme::panel, {}, this);
    auto* column = new QVBoxLayout(list);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new PageHeader(list);
    header->row().addWidget(
        new ThemedLabel(tr("History"), uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, header));
    m_count = new ThemedLabel({}, monoFont(TextSize::Small), &Theme::text2, header);
    header->row().addWidget(m_count);
    header->row().addStretch(1);
    header->row().addWidget(
        new ThemedLabel(tr("Enter opens a run"), uiFont(TextSize::Tiny), &Theme::text3, header));
    column->addWidget(header);

    column->addWidget(buildQuery(list));
    m_empty = new ThemedLabel({}, uiFont(), &Theme::text2, list);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    buildTable();
    column->addWidget(m_empty, 1);
    auto* inset = new QHBoxLayout;
    inset->setContentsMargins(9, 0, 0, 0);
    inset->addWidget(m_table);
    column->addLayout(inset, 1);
    return list;
}

QWidget* HistoryPage::buildQuery(QWidget* list)
{
    auto* bar = new Surface(&Theme::panel, Qt::BottomEdge, list);
    bar->setMinimumHeight(44);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(12, 0, 12, 0);
    row->setSpacing(12);
    m_query = new QLineEdit(bar);
    m_query->setPlaceholderText(
        tr("Filter: words, or precision:16-mixed  state:failed  skipped>2  loss<0.5"));
    m_query->setAccessibleName(tr("Filter the runs"));
    m_query->setClearButtonEnabled(true);
    m_query->addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    m_shown = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text2, bar);
    row->addWidget(m_query, 1);
    row->addWidget(m_shown);
    connect(m_query, &QLineEdit::textChanged, this, &HistoryPage::applyQuery);
    auto* find = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_F), list);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, m_query, qOverload<>(&QWidget::setFocus));
    return bar;
}

void HistoryPage::buildTable()
{
    m_table = new PlainTable(27, this);
    m_table->setModel(m_filter);
    m_table->setAccessibleName(tr("Stored runs"));
    m_table->setItemDelegateForColumn(RunsModel::Scale, new ScaleDelegate(m_table));
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(RunsModel::Started, Qt::DescendingOrder);
    auto* header = m_table->horizontalHeader();
    for (int column = 0; column < RunsModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, kWidths[column]);
    header->setSectionResizeMode(RunsModel::Name, QHeaderView::Stretch);
    header->setMinimumSectionSize(60);
    fitColumns();
    connect(m_table, &QTableView::activated, this, &HistoryPage::openRow);
    connect(m_filter, &QAbstractItemModel::layoutChanged, this, &HistoryPage::spreadErrors);
}

void HistoryPage::fitColumns()
{
    int wanted = std::accumulate(kWidths.begin(), kWidths.end(), 0);
    for (const auto column : kLeaving) {
        const bool leaves = wanted > width() - 20;
        m_table->setColumnHidden(column, leaves);
        if (leaves)
            wanted -= kWidths[column];
    }
}

void HistoryPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    fitColumns();
}

void HistoryPage::activate()
{
    m_refresh.start();
    readList();
    if (m_stack->currentWidget() != m_view)
        m_table->setFocus(Qt::OtherFocusReason);
}

void HistoryPage::readList()
{
    if (std::exchange(m_reading, true)) {
        m_readAgain = true;
        return;
    }
    const auto history = m_services.history;
    m_files.run([history] { return listRuns(history); },
                [this](Result<std::vector<RunSummaryRow>> runs) { takeList(std::move(runs)); });
}

void HistoryPage::takeList(Result<std::vector<RunSummaryRow>> runs)
{
    m_reading = false;
    const auto path = QString::fromStdString(m_services.history.string());
    if (m_watcher.directories().isEmpty())
        m_watcher.addPath(path); // Fails quietly until the first run makes the folder.
    const auto selected = m_filter->mapToSource(m_table->currentIndex());
    // Who is on the first row stays there: a run that has come meanwhile is the one that is looked for.
    const bool onTop = m_table->currentIndex().row() <= 0;
    const auto folder = selected.isValid() ? m_runs->run(selected.row()).folder : std::filesystem::path();
    m_unread = runs ? std::nullopt : std::optional(runs.error());
    m_runs->setRuns(runs ? *std::move(runs) : std::vector<RunSummaryRow>());
    if (const int row = m_runs->rowOf(folder); row >= 0 && !onTop)
        m_table->selectRow(m_filter->mapFromSource(m_runs->index(row, 0)).row());
    else if (m_filter->rowCount() > 0)
        m_table->selectRow(0);
    for (int row = 0; row < m_runs->rowCount(); ++row) {
        const auto& run = m_runs->run(row);
        if (run.error.empty() && !m_readAfterEnd.contains(run.folder))
            readFacts(run);
    }
    showCounts();
    if (std::exchange(m_readAgain, false))
        readList();
}

void HistoryPage::readFacts(const RunSummaryRow& row)
{
    m_files.run([row] { return readRunFacts(row); },
                [this, folder = row.folder, ended = hasEnded(row.state)](RunFacts facts) {
                    m_runs->setFacts(folder, std::move(facts));
                    if (ended)
                        m_readAfterEnd.insert(folder);
                });
}

void HistoryPage::refreshRunning()
{
    if (!isVisible()) {
        m_refresh.stop();
        return;
    }
    for (int row = 0; row < m_runs->rowCount(); ++row) {
        const auto& run = m_runs->run(row);
        if (!run.error.empty() || hasEnded(run.state))
            continue;
        m_files.run([folder = run.folder] { return summarizeRun(folder); },
                    [this](const Result<RunSummaryRow>& summary) {
                        if (!summary)
                            return;
                        m_runs->setRun(*summary);
                        readFacts(*summary); // Also once after its end: the last values come with it.
                    });
    }
    if (m_stack->currentWidget() == m_view && !m_view->folder().empty() && !hasEnded(m_view->row().state))
        readOpenRun();
}

void HistoryPage::open(const std::filesystem::path& folder)
{
    const int row = m_runs->rowOf(folder);
    m_view->showReading(row >= 0 ? QString::fromStdString(m_runs->run(row).name)
                                 : QString::fromStdString(folder.filename().string()));
    m_stack->setCurrentWidget(m_view);
    m_files.run([folder] { return readStoredRun(folder); },
                [this, folder](Result<StoredRun> run) {
                    if (run)
                        m_view->show(*run);
                    else
                        m_view->showError(folder, run.error());
                    emit statusTextChanged();
                });
}

void HistoryPage::readOpenRun()
{
    m_files.run([folder = m_view->folder()] { return readStoredRun(folder); },
                [this](Result<StoredRun> run) {
                    if (run && run->row.folder == m_view->folder())
                        m_view->show(*run);
                });
}

void HistoryPage::resume(const ResumeWish& wish, bool asDraft)
{
    m_files.run([folder = m_view->folder(), wish] { return draftResume(folder, wish); },
                [this, asDraft](const Result<ResumeDraft>& draft) {
                    if (!draft)
                        m_view->resumeBar().showProblem(draft.error());
                    else if (asDraft)
                        emit m_services.navigation.resumeDraftAsked(*draft);
                    else
                        goOn(*draft);
                });
}

void HistoryPage::rewind(qint64 step)
{
    m_files.run([folder = m_view->folder(), step,
                 history = m_services.history] { return rewindRequest(folder, step, history); },
                [this](const Result<RunRequest>& request) {
                    if (request)
                        emit m_services.navigation.runAsked(*request);
                    else
                        m_view->showProblem(request.error());
                });
}

void HistoryPage::goOn(const ResumeDraft& draft)
{
    auto request = requestFor(draft.setupText, draft.name, m_services.history);
    if (!request) {
        m_view->resumeBar().showProblem(request.error());
        return;
    }
    request->resume = draft.from;
    m_view->resumeBar().hide();
    emit m_services.navigation.runAsked(*request);
}

void HistoryPage::openRow(const QModelIndex& index)
{
    open(m_runs->run(m_filter->mapToSource(index).row()).folder);
}

void HistoryPage::showList()
{
    m_stack->setCurrentIndex(0);
    m_table->setFocus(Qt::OtherFocusReason);
    emit statusTextChanged();
}

void HistoryPage::applyQuery()
{
    m_filter->setQuery(RunQuery(m_query->text()));
    showCounts();
}

/// A run that cannot be read has its error in place of what would be in the other columns.
void HistoryPage::spreadErrors()
{
    m_table->clearSpans();
    for (int row = 0; row < m_filter->rowCount(); ++row)
        if (!m_runs->run(m_filter->mapToSource(m_filter->index(row, 0)).row()).error.empty())
            m_table->setSpan(row, RunsModel::Name, 1, RunsModel::Started - RunsModel::Name);
}

void HistoryPage::showCounts()
{
    spreadErrors();
    const int all = m_runs->rowCount();
    const int shown = m_filter->rowCount();
    m_count->setText(m_unread ? tr("cannot be read") : counted(all, tr("run"), tr("runs")));
    m_shown->setText(!m_filter->query().complaint().isEmpty() ? m_filter->query().complaint()
                         : shown == all                       ? QString()
                                        : tr("%1 of %2").arg(formatCount(shown), formatCount(all)));
    m_table->setVisible(shown > 0);
    m_empty->setVisible(shown == 0);
    m_empty->setText(m_unread ? QString::fromStdString(m_unread->message + "\n" + m_unread->hint)
                         : all == 0
                         ? tr("No run is stored yet. What Start trains is kept here: every step of it, "
                              "with its set-up.\n%1")
                               .arg(QString::fromStdString(m_services.history.string()))
                         : tr("No run fits this filter."));
    emit statusTextChanged();
}

QString HistoryPage::statusText() const
{
    if (m_stack && m_stack->currentWidget() == m_view)
        return QString::fromStdString(m_view->folder().string());
    if (m_unread)
        return QString::fromStdString(m_unread->message);
    return tr("%1 in %2")
        .arg(counted(m_runs->rowCount(), tr("run"), tr("runs")),
             QString::fromStdString(m_services.history.string()));
}

} // namespace mantissa::ui
