#include "engine/rules/findings_json.h"

#include "engine/recipe/value_json.h"

namespace mantissa {
namespace {

const char* opName(EditOp op)
{
    switch (op) {
    case EditOp::Set:
        return "set";
    case EditOp::Unset:
        return "unset";
    case EditOp::Append:
        return "append";
    case EditOp::Remove:
        return "remove";
    }
    return "set";
}

Json jsonOf(const Fix& fix)
{
    Json edits = Json::array();
    for (const Edit& edit : fix.edits)
        edits.push_back({{"op", opName(edit.op)}, {"path", edit.path}, {"value", jsonFromValue(edit.value)}});
    return {{"title", fix.title},   {"grade", fixGradeId(fix.grade)}, {"edits", std::move(edits)},
            {"clears", fix.clears}, {"raises", fix.raises},           {"text", fix.text}};
}

} // namespace

Json jsonOf(const Finding& finding)
{
    Json fixes = Json::array();
    for (const Fix& fix : finding.fixes)
        fixes.push_back(jsonOf(fix));
    return {{"rule", finding.rule},
            {"severity", severityId(finding.severity)},
            {"stage", stageId(finding.stage)},
            {"paths", finding.paths},
            {"message", finding.message},
            {"why", finding.why},
            {"source",
             {{"project", finding.source.project},
              {"version", finding.source.version},
              {"where", finding.source.where}}},
            {"engine", finding.engine},
            {"raises", finding.raises},
            {"fixes", std::move(fixes)}};
}

Json jsonOf(const std::vector<Finding>& findings)
{
    Json list = Json::array();
    for (const Finding& finding : findings)
        list.push_back(jsonOf(finding));
    return list;
}

Json jsonOf(const std::vector<Assumption>& assumed)
{
    Json list = Json::array();
    for (const Assumption& assumption : assumed)
        list.push_back({{"path", assumption.path}, {"text", assumption.text}, {"rules", assumption.rules}});
    return list;
}

std::string textOf(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json jsonOf(const CheckReport& report, const std::string& file)
{
    Json suppressed = Json::array();
    for (const SuppressedFinding& entry : report.suppressed)
        suppressed.push_back(
            {{"rule", entry.finding.rule}, {"paths", entry.finding.paths}, {"reason", entry.reason}});
    return {{"file", file},
            {"target", report.target.name},
            {"verified", report.target.verified},
            {"verdict", {{"target", report.onTarget.words}, {"here", report.here.words}}},
            {"assumed", jsonOf(report.assumed)},
            {"suppressed", std::move(suppressed)},
            {"findings", jsonOf(report.findings)}};
}

} // namespace mantissa
