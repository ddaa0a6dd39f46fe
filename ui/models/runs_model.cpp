#include "ui/models/runs_model.h"

#include "ui/text/format.h"
#include "ui/text/run_words.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

constexpr std::array kTitles = {
    QT_TRANSLATE_NOOP("RunsModel", "State"),       QT_TRANSLATE_NOOP("RunsModel", "Name"),
    QT_TRANSLATE_NOOP("RunsModel", "Precision"),   QT_TRANSLATE_NOOP("RunsModel", "Strategy"),
    QT_TRANSLATE_NOOP("RunsModel", "Optimizer"),   QT_TRANSLATE_NOOP("RunsModel", "Steps"),
    QT_TRANSLATE_NOOP("RunsModel", "Loss (last)"), QT_TRANSLATE_NOOP("RunsModel", "Skipped"),
    QT_TRANSLATE_NOOP("RunsModel", "Loss scale"),  QT_TRANSLATE_NOOP("RunsModel", "Started")};

const auto kNotKnown = QStringLiteral("–");

bool isNumber(int column)
{
    return column == RunsModel::Steps || column == RunsModel::Loss || column == RunsModel::Skipped;
}

bool isMono(int column)
{
    return isNumber(column) || column == RunsModel::Precision || column == RunsModel::Strategy
        || column == RunsModel::Optimizer;
}

bool isWhole(const RunSummaryRow& run, const std::optional<RunFacts>& facts)
{
    return run.error.empty() && (!facts || facts->error.empty());
}

QString known(const std::string& value)
{
    return value.empty() ? kNotKnown : QString::fromStdString(value);
}

QColor precisionColour(const QString& precision)
{
    if (precision.startsWith(QStringLiteral("bf16")))
        return theme().bf16;
    return precision.startsWith(QStringLiteral("16")) ? theme().fp16 : theme().fp32;
}

} // namespace

void RunsModel::setRuns(std::vector<RunSummaryRow> runs)
{
    const auto sameFolder = [](const RunSummaryRow& a, const RunSummaryRow& b) {
        return a.folder == b.folder;
    };
    if (std::equal(runs.begin(), runs.end(), m_runs.begin(), m_runs.end(), sameFolder)) {
        m_runs = std::move(runs);
        if (!m_runs.empty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_runs = std::move(runs);
    endResetModel();
}

void RunsModel::setRun(const RunSummaryRow& run)
{
    const int row = rowOf(run.folder);
    if (row < 0)
        return;
    m_runs[static_cast<std::size_t>(row)] = run;
    emit dataChanged(index(row, 0), index(row, ColumnCount - 1));
}

void RunsModel::setFacts(const std::filesystem::path& folder, RunFacts facts)
{
    m_facts[folder] = std::move(facts);
    if (const int row = rowOf(folder); row >= 0)
        emit dataChanged(index(row, 0), index(row, ColumnCount - 1));
}

const std::optional<RunFacts>& RunsModel::facts(int row) const
{
    static const std::optional<RunFacts> kNone;
    const auto found = m_facts.find(run(row).folder);
    return found == m_facts.end() ? kNone : found->second;
}

int RunsModel::rowOf(const std::filesystem::path& folder) const
{
    const auto found = std::find_if(m_runs.begin(), m_runs.end(),
                                    [&](const RunSummaryRow& run) { return run.folder == folder; });
    return found == m_runs.end() ? -1 : static_cast<int>(found - m_runs.begin());
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RunsModel::text(const RunSummaryRow& run, const std::optional<RunFacts>& facts, int column) const
{
    switch (column) {
    case State:
        return shownState(run, facts);
    case Name:
        return run.error.empty()
            ? QString::fromStdString(run.name)
            : QString::fromStdString(run.name) + QStringLiteral(": ") + QString::fromStdString(run.error);
    case Started:
        return formatTime(QString::fromStdString(run.started));
    case Steps:
        return run.error.empty() ? formatCount(run.steps) : QString();
    default:
        break;
    }
    if (!facts || !run.error.empty())
        return {};
    switch (column) {
    case Precision:
        return known(facts->precision);
    case Strategy: {
        const auto name = known(facts->strategy);
        return facts->ranks > 1 && name != kNotKnown ? tr("%1 × %2").arg(name).arg(facts->ranks) : name;
    }
    case Optimizer:
        return known(facts->optimizer);
    case Loss:
        return facts->loss ? formatNumber(*facts->loss) : kNotKnown;
    case Skipped:
        return facts->skipped ? formatCount(*facts->skipped) : kNotKnown;
    case Scale:
        if (!facts->scale.empty())
            return {};
        return facts->precision.empty() || facts->precision == "16-mixed" ? kNotKnown : tr("no scaler");
    default:
        return {};
    }
}

QVariant RunsModel::sortKey(const RunSummaryRow& run, const std::optional<RunFacts>& facts, int column) const
{
    if (column == Steps)
        return static_cast<qlonglong>(run.steps);
    if (column == Started)
        return QString::fromStdString(run.started);
    if (column == Loss)
        return facts && facts->loss && std::isfinite(*facts->loss) ? *facts->loss : HUGE_VAL;
    if (column == Skipped)
        return static_cast<qlonglong>(facts ? facts->skipped.value_or(-1) : -1);
    if (column == Scale)
        return facts && !facts->scale.empty() ? facts->scale.back() : -1.0;
    return text(run, facts, column).toLower();
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto& each = run(index.row());
    const auto& more = facts(index.row());
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(each, more, column);
    case Qt::ToolTipRole:
        if (!each.error.empty())
            return QString::fromStdString(each.error + "\n" + each.hint);
        if (column == State && !isWhole(each, more))
            return QString::fromStdString(more->error);
        return column == Name ? QString::fromStdString(each.folder.string()) : text(each, more, column);
    case Qt::DecorationRole:
        if (column == State)
            return isWhole(each, more)
                ? icon(lookOf(each.state).icon, toneColours(theme(), lookOf(each.state).tone).ink)
                : icon(QStringLiteral("stop_sign"), theme().stop);
        return {};
    case Qt::ForegroundRole:
        if (column == Precision)
            return precisionColour(text(each, more, column));
        if (column == Loss && more && more->loss && !std::isfinite(*more->loss))
            return theme().stop;
        return column == Name                      ? theme().text
            : column == State || column == Started ? theme().text2
                                                   : theme().text;
    case Qt::FontRole:
        return isMono(column) ? monoFont(TextSize::Small)
                              : uiFont(TextSize::Small, column == Name ? QFont::Medium : QFont::Normal);
    case Qt::TextAlignmentRole:
        return QVariant((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kScaleRole:
        return more ? QVariant::fromValue(QList<double>(more->scale.begin(), more->scale.end())) : QVariant();
    case RunsFilter::kSortRole:
        return sortKey(each, more, column);
    default:
        return {};
    }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return role == Qt::DisplayRole ? QVariant(tr(kTitles[static_cast<std::size_t>(section)])) : QVariant();
}

RunsFilter::RunsFilter(RunsModel& runs, QObject* parent) : QSortFilterProxyModel(parent), m_runs(runs)
{
    setSourceModel(&runs);
    setSortRole(kSortRole);
    setDynamicSortFilter(true);
}

void RunsFilter::setQuery(RunQuery query)
{
    m_query = std::move(query);
    invalidateRowsFilter();
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex&) const
{
    return m_query.accepts(m_runs.run(row), m_runs.facts(row));
}

} // namespace mantissa::ui
