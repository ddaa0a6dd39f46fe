#include "ui/pages/compose/fix_consequences.h"

#include <QCoreApplication>

#include <algorithm>

namespace mantissa::ui {
namespace {

QString words(const char* text)
{
    return QCoreApplication::translate("FixPreview", text);
}

QString number(qsizetype count, const char* one, const char* many)
{
    return QStringLiteral("%1 %2").arg(count).arg(words(count == 1 ? one : many));
}

bool isPresent(const StepPlan& plan, Stage stage)
{
    return std::any_of(plan.stages.begin(), plan.stages.end(),
                       [stage](const PlanStage& s) { return s.stage == stage && s.present; });
}

QString fieldsChanged(const std::vector<Difference>& differences)
{
    if (differences.size() == 1) {
        const auto& only = differences.front();
        const auto after =
            only.after.isAbsent() ? words("removed") : QString::fromStdString(only.after.text());
        const auto path = QString::fromStdString(only.path);
        return QStringLiteral("%1: %2").arg(path.section(QLatin1Char('.'), -1), after);
    }
    return number(static_cast<qsizetype>(differences.size()), "setting", "settings");
}

/// "fixes this and 2 more, causes nothing new": in words, never as counters alone.
QString effect(const Finding& finding, const Fix& fix)
{
    const auto others = std::count_if(fix.clears.begin(), fix.clears.end(),
                                      [&](const std::string& rule) { return rule != finding.rule; });
    const bool clearsThis = std::find(fix.clears.begin(), fix.clears.end(), finding.rule) != fix.clears.end();
    auto text = clearsThis ? words("fixes this") : words("does not clear this by itself");
    if (others > 0)
        text += words(" and %1 more").arg(others);
    if (fix.raises.empty())
        return text + words(", causes nothing new");
    QStringList raised;
    for (const auto& rule : fix.raises)
        raised << QString::fromStdString(rule);
    return text + words(", but then: ") + raised.join(QStringLiteral(", "));
}

} // namespace

std::optional<PreviewedFix> previewFix(const Setup& setup, const StepPlan& plan, const CheckReport& report,
                                       const Finding& finding, const Fix& fix)
{
    if (fix.edits.empty())
        return std::nullopt;
    const auto after = applyEdits(setup, fix.edits);
    if (!after)
        return std::nullopt;
    PreviewedFix preview{*after, {QString::fromStdString(fix.title), {}, makeStepPlan(*after), {}}};

    qsizetype gone = 0;
    qsizetype added = 0;
    for (const auto& stage : plan.stages) {
        const bool later = isPresent(preview.picture.after, stage.stage);
        gone += stage.present && !later ? 1 : 0;
        added += !stage.present && later ? 1 : 0;
        const auto stays = [&](const Finding& other) {
            return other.stage == stage.stage
                && std::find(fix.clears.begin(), fix.clears.end(), other.rule) == fix.clears.end();
        };
        const auto here = [&](const Finding& other) { return other.stage == stage.stage; };
        if (std::any_of(report.findings.begin(), report.findings.end(), here)
            && std::none_of(report.findings.begin(), report.findings.end(), stays))
            preview.picture.fixedStages.push_back(stage.stage);
    }
    QStringList parts{fieldsChanged(diff(setup, *after))};
    if (gone > 0)
        parts << number(gone, "stage drops out", "stages drop out");
    if (added > 0)
        parts << number(added, "stage comes in", "stages come in");
    parts << effect(finding, fix);
    preview.picture.consequences = parts.join(QStringLiteral(" · "));
    return preview;
}

} // namespace mantissa::ui
