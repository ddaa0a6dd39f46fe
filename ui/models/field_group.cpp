#include "ui/models/field_group.h"

#include "ui/text/convert.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace mantissa::ui {
namespace {

struct Heading {
    std::string_view prefix; ///< The longest that fits counts, so longer ones stand first.
    const char* title;
};

constexpr std::array kHeadings = {
    Heading{"optimizer.", QT_TRANSLATE_NOOP("FieldGroup", "Optimizer")},
    Heading{"mantissa.facts.optimizer", QT_TRANSLATE_NOOP("FieldGroup", "Optimizer")},
    Heading{"lr_scheduler.", QT_TRANSLATE_NOOP("FieldGroup", "Schedule")},
    Heading{"mantissa.facts.lr_scheduler", QT_TRANSLATE_NOOP("FieldGroup", "Schedule")},
    Heading{"mantissa.schedule", QT_TRANSLATE_NOOP("FieldGroup", "Schedule")},
    Heading{"mantissa.scaler", QT_TRANSLATE_NOOP("FieldGroup", "Loss scaler")},
    Heading{"mantissa.fabric.", QT_TRANSLATE_NOOP("FieldGroup", "Fabric")},
    Heading{"mantissa.", QT_TRANSLATE_NOOP("FieldGroup", "This engine")},
    Heading{"model.", QT_TRANSLATE_NOOP("FieldGroup", "Model")},
    Heading{"data.", QT_TRANSLATE_NOOP("FieldGroup", "Data")},
    Heading{"trainer.strategy", QT_TRANSLATE_NOOP("FieldGroup", "Strategy")},
};

/// A callback's settings stand under its name: "trainer.callbacks[EarlyStopping].patience".
QString callbackOf(std::string_view path)
{
    constexpr std::string_view kCallbacks = "trainer.callbacks[";
    if (!path.starts_with(kCallbacks))
        return {};
    const auto name = path.substr(kCallbacks.size());
    return toQt(name.substr(0, name.find(']')));
}

QString titleOf(const Field& field)
{
    if (const auto callback = callbackOf(field.path); !callback.isEmpty())
        return callback;
    const auto heading = std::find_if(kHeadings.begin(), kHeadings.end(), [&](const Heading& each) {
        return field.path.starts_with(each.prefix);
    });
    return QCoreApplication::translate("FieldGroup", heading == kHeadings.end() ? "Trainer" : heading->title);
}

} // namespace

std::vector<FieldGroup> fieldGroups(const std::vector<const Field*>& fields)
{
    std::vector<FieldGroup> groups;
    for (const auto* field : fields) {
        const auto title = titleOf(*field);
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const FieldGroup& each) { return each.title == title; });
        if (group == groups.end())
            group = groups.insert(groups.end(), FieldGroup{title, {}});
        group->fields.push_back(field);
    }
    return groups;
}

} // namespace mantissa::ui
