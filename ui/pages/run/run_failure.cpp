#include "ui/pages/run/run_failure.h"

#include "engine/recipe/fields.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/setup_text.h"
#include "engine/rules/check.h"
#include "ui/pages/knowledge/shelf.h"
#include "ui/text/format.h"
#include "ui/widgets/fix_button.h"
#include "ui/widgets/severity.h"

#include <QCoreApplication>
#include <QJsonDocument>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr std::size_t kMostFixes = 3;

QString say(const char* text)
{
    return QCoreApplication::translate("RunFailure", text);
}

std::optional<Stage> stageNamed(const std::string& id)
{
    const auto found =
        std::find_if(kStages.begin(), kStages.end(), [&](const StageName& name) { return name.id == id; });
    return found == kStages.end() ? std::nullopt : std::optional(found->stage);
}

/// Whether a rule tells of the error that the run ended with.
bool concerns(const Finding& finding, const RunFailure& failure)
{
    const auto& rules = rulesOf(failure.record);
    return isError(finding.severity)
        && (finding.stage == failure.stage
            || std::find(rules.begin(), rules.end(), finding.rule) != rules.end());
}

void addFixes(RunFailure& failure, const SetupFile& file, const std::string& setupText)
{
    const auto target = targetOf(file.setup);
    const auto report = check(file.setup, target ? *target : shippedTargets().front());
    for (const auto& finding : report.findings) {
        if (!concerns(finding, failure))
            continue;
        for (const auto& fix : finding.fixes) {
            const auto fixed = editSetupText(setupText, fix.edits);
            if (fix.edits.empty() || !fixed || failure.advice.size() >= kMostFixes)
                continue;
            failure.advice.push_back({QString::fromStdString(fix.title), gradeText(fix.grade),
                                      QString::fromStdString(finding.message), QString::fromStdString(*fixed),
                                      false});
        }
    }
}

bool saysOnPurpose(const RunEvent& failure)
{
    const auto detail = QJsonDocument::fromJson(QByteArray::fromStdString(failure.detail));
    return detail[QStringLiteral("on_purpose")].toBool();
}

void addWithoutFaults(RunFailure& failure, const std::string& setupText)
{
    const auto without = editSetupText(setupText, {{EditOp::Unset, std::string(field::inject.path), {}}});
    failure.advice.push_back(
        {say("Take the fault out"), say("made on purpose"),
         say("This fault was made on purpose: it is listed under mantissa.inject of the set-up."),
         without ? QString::fromStdString(*without) : QString(), false});
}

void addResume(RunFailure& failure, const std::vector<RunEvent>& events)
{
    const auto last = std::find_if(events.rbegin(), events.rend(),
                                   [](const RunEvent& event) { return event.kind == "checkpoint"; });
    if (last != events.rend())
        failure.advice.push_back(
            {say("Go on from step %1").arg(formatCount(last->step)),
             say("safe"),
             say("A checkpoint was written after that step. A new run repeats what came after it."),
             {},
             true});
}

} // namespace

QString RunFailure::place() const
{
    if (cause.kind.empty())
        return say("Where it ended was not recorded.");
    const auto who = cause.rank >= 0 ? say("Rank %1").arg(cause.rank) : say("The run");
    auto words = say("%1 ended in step %2").arg(who, formatCount(cause.step));
    if (stage)
        words += say(", at %1").arg(stageTitleText(*stage));
    return words + u'.';
}

RunFailure describeFailure(const std::vector<RunEvent>& events, const std::string& setupText,
                           const std::string& message, const std::string& hint)
{
    RunFailure failure;
    // The first failure is the cause; the others are what it did to the other ranks.
    const auto cause = std::find_if(events.begin(), events.end(),
                                    [](const RunEvent& event) { return event.kind == "failure"; });
    if (cause != events.end()) {
        failure.cause = *cause;
        failure.stage = stageNamed(cause->stage);
    }
    const auto words = message.empty() ? failure.cause.message : message;
    failure.record = explanationOf(QString::fromStdString(words));
    const auto file = readSetup(setupText);
    failure.plan = makeStepPlan(file.setup);
    // A rank that throws on purpose ends before it can note that down.
    const bool onPurpose =
        saysOnPurpose(failure.cause) || std::any_of(events.begin(), events.end(), [&](const RunEvent& event) {
            return event.kind == "injected" && event.step == failure.cause.step;
        });
    if (onPurpose && file.setup.has(field::inject.path))
        addWithoutFaults(failure, setupText);
    addFixes(failure, file, setupText);
    addResume(failure, events);
    if (!hint.empty())
        failure.advice.push_back({say("What the engine says"), {}, QString::fromStdString(hint), {}, false});
    if (!setupText.empty())
        failure.advice.push_back({say("Go on from this set-up"),
                                  {},
                                  say("Every step that was made is stored. The set-up opens as it ran, as a "
                                      "new draft."),
                                  QString::fromStdString(setupText),
                                  false});
    return failure;
}

} // namespace mantissa::ui
