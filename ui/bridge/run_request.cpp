#include "ui/bridge/run_request.h"

#include "engine/history/resume_draft.h"
#include "engine/recipe/setup_file.h"
#include "engine/rules/check.h"
#include "engine/rules/findings_json.h"
#include "engine/rules/text_findings.h"

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr std::int64_t kRewound = 50; ///< Steps that are looked at.

} // namespace

Result<RunRequest> requestFor(const std::string& setupText, const std::string& name,
                              const std::filesystem::path& history)
{
    const auto file = readSetup(setupText);
    const auto target = targetOf(file.setup);
    if (!target)
        return target.error();
    const auto report = checkFile(file, *target);
    const auto plan = planRun(file.setup);
    if (!startRefusals(report, plan ? plan->mode : RunMode::Default).empty())
        return Error{ErrorCode::Refused, report.onTarget.words + ".",
                     "Open it as a draft: Compose lists the fixes and other ways to start."};
    if (!plan)
        return plan.error();
    RunRequest request;
    request.plan = *plan;
    request.setupText = setupText;
    request.findingsJson = textOf(jsonOf(report.findings));
    request.assumedJson = textOf(jsonOf(report.assumed));
    request.name = name;
    request.history = history;
    return request;
}

Result<RunRequest> rewindRequest(const std::filesystem::path& run, std::int64_t toStep,
                                 const std::filesystem::path& history)
{
    const auto from = std::max<std::int64_t>(0, toStep - kRewound + 1);
    auto draft = draftResume(run, {from - 1, toStep + 1});
    if (!draft) // Not so far back, then, but as far as there is something.
        draft = draftResume(run, {toStep - 1, toStep + 1});
    if (!draft)
        return draft.error();
    auto request = requestFor(draft->setupText, draft->name, history);
    if (!request)
        return request;
    request->kind = "rewind";
    request->resume = draft->from;
    request->plan.probeFrom = from;
    request->plan.checkpoints = {};
    request->plan.checkpoints.atEnd = false;
    return request;
}

} // namespace mantissa::ui
