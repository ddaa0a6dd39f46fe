#include "ui/models/events_model.h"

#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/widgets/severity.h"

#include <algorithm>
#include <array>

namespace mantissa::ui {
namespace {

struct KindLook {
    std::string_view kind;
    const char* icon;
    QColor Theme::*colour;
    const char* word;
};

constexpr std::array kLooks = {
    KindLook{"skipped", "triangle_up", &Theme::stop, QT_TRANSLATE_NOOP("EventsModel", "step skipped")},
    KindLook{"nonfinite", "triangle_up", &Theme::stop, QT_TRANSLATE_NOOP("EventsModel", "not finite")},
    KindLook{"backoff", "triangle_down", &Theme::stop, QT_TRANSLATE_NOOP("EventsModel", "scale lowered")},
    KindLook{"growth", "triangle_up", &Theme::ok, QT_TRANSLATE_NOOP("EventsModel", "scale raised")},
    KindLook{"checkpoint", "flag", &Theme::text2, QT_TRANSLATE_NOOP("EventsModel", "checkpoint")},
    KindLook{"failure", "stop_sign", &Theme::stop, QT_TRANSLATE_NOOP("EventsModel", "failure")},
    KindLook{"scale_floor", "differs", &Theme::warn, QT_TRANSLATE_NOOP("EventsModel", "alarm")},
    KindLook{"spike", "differs", &Theme::warn, QT_TRANSLATE_NOOP("EventsModel", "loss spike")},
    KindLook{"stop_asked", "stop", &Theme::text2, QT_TRANSLATE_NOOP("EventsModel", "stop asked for")},
    KindLook{"origin", "search", &Theme::stop, QT_TRANSLATE_NOOP("EventsModel", "began here")},
    KindLook{"memory", "chip", &Theme::text2, QT_TRANSLATE_NOOP("EventsModel", "memory")},
    KindLook{"resumed", "play", &Theme::accent, QT_TRANSLATE_NOOP("EventsModel", "resumed")},
    KindLook{"not_carried", "differs", &Theme::warn, QT_TRANSLATE_NOOP("EventsModel", "not carried over")},
    KindLook{"sanity_check", "check", &Theme::text2,
             QT_TRANSLATE_NOOP("EventsModel", "validation tried out")},
    KindLook{"history_lost", "stop_sign", &Theme::stop, QT_TRANSLATE_NOOP("EventsModel", "history lost")},
    KindLook{"checkpoint_skipped", "flag", &Theme::warn,
             QT_TRANSLATE_NOOP("EventsModel", "no checkpoint this time")},
    KindLook{"feed_dropped", "info", &Theme::text2, QT_TRANSLATE_NOOP("EventsModel", "points not drawn")},
    KindLook{"injected", "drop", &Theme::warn, QT_TRANSLATE_NOOP("EventsModel", "made on purpose")},
};
constexpr KindLook kOther{"", "info", &Theme::text2, QT_TRANSLATE_NOOP("EventsModel", "event")};

const KindLook& lookOfKind(std::string_view kind)
{
    const auto look =
        std::find_if(kLooks.begin(), kLooks.end(), [&](const KindLook& each) { return each.kind == kind; });
    return look == kLooks.end() ? kOther : *look;
}

/// "rank 1 · Backward"
QString whereText(const RunEvent& event)
{
    QStringList parts;
    if (event.rank >= 0)
        parts << EventsModel::tr("rank %1").arg(event.rank);
    for (const auto& name : kStages)
        if (name.id == event.stage)
            parts << stageTitleText(name.stage);
    if (!event.layer.empty())
        parts << QString::fromStdString(event.layer);
    return parts.join(QStringLiteral(" · "));
}

bool isShown(const RunEvent& event)
{
    return event.kind != "stage_trace";
}

} // namespace

void EventsModel::clear()
{
    beginResetModel();
    m_events.clear();
    endResetModel();
}

void EventsModel::append(const std::vector<RunEvent>& events)
{
    const auto count = static_cast<int>(std::count_if(events.begin(), events.end(), isShown));
    if (count == 0)
        return;
    beginInsertRows({}, 0, count - 1);
    std::copy_if(events.begin(), events.end(), std::back_inserter(m_events), isShown);
    endInsertRows();
}

int EventsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_events.size());
}

int EventsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant EventsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto& shown = event(index.row());
    const auto& look = lookOfKind(shown.kind);
    if (index.column() == Mark && role == Qt::DecorationRole)
        return icon(QLatin1String(look.icon), theme().*look.colour);
    if (index.column() == Mark && role == Qt::AccessibleTextRole)
        return tr(look.word);
    if (role == Qt::ToolTipRole)
        return QString::fromStdString(shown.message);
    if (index.column() == AtStep && role == Qt::DisplayRole)
        return formatCount(shown.step);
    if (index.column() == AtStep && role == Qt::FontRole)
        return monoFont(TextSize::Tiny);
    if (index.column() == AtStep && role == Qt::ForegroundRole)
        return theme().text2;
    if (index.column() == AtStep && role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (index.column() == Where && role == Qt::DisplayRole)
        return whereText(shown);
    if (index.column() == Where && role == Qt::ForegroundRole)
        return theme().text2;
    if (index.column() == What && role == Qt::ForegroundRole && shown.kind == "failure")
        return theme().stop;
    if (index.column() == What && role == Qt::DisplayRole)
        return QString::fromStdString(shown.message);
    return {};
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    const QStringList titles{tr("Kind"), tr("Step"), tr("Where"), tr("What happened")};
    return titles.value(section);
}

} // namespace mantissa::ui
