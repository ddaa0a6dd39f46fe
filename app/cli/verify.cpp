#include "app/cli/command.h"
#include "app/cli/json_text.h"
#include "app/cli/text_table.h"
#include "engine/core/training_service.h"

#include <cstdio>
#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string folder;
    bool exact = false;
    bool json = false;
};

Json reportJson(const VerifyReport& report)
{
    Json json;
    json["case"] = report.caseName;
    json["inside"] = report.inside;
    json["exact"] = report.exact;
    auto& quantities = json["quantities"] = Json::array();
    for (const auto& quantity : report.quantities) {
        Json one;
        one["name"] = quantity.name;
        one["worst"] = jsonNumber(quantity.worst);
        one["measure"] = quantity.measure;
        one["tolerance"] = jsonNumber(quantity.tolerance);
        one["step"] = quantity.step;
        one["inside"] = quantity.inside;
        quantities.push_back(std::move(one));
    }
    return json;
}

void printReport(const VerifyReport& report)
{
    std::printf("%s: %s%s\n", report.caseName.c_str(), report.inside ? "inside" : "outside",
                report.exact ? ", compared bit by bit" : " the tolerance");
    TextTable table({"QUANTITY", "LARGEST DEVIATION", "MEASURE", "ALLOWED", "AT STEP", ""});
    for (const auto& quantity : report.quantities)
        table.add({quantity.name, shortNumber(quantity.worst), quantity.measure,
                   shortNumber(quantity.tolerance), quantity.step < 0 ? "end" : std::to_string(quantity.step),
                   quantity.inside ? "" : "outside"});
    table.print();
}

std::string caseName(const std::string& folder)
{
    return std::filesystem::absolute(folder / std::filesystem::path()).parent_path().filename().string();
}

int notRunHere(const Options& options, const Error& error)
{
    const std::string lead = "not run here: ";
    const std::string reason =
        error.message.rfind(lead, 0) == 0 ? error.message.substr(lead.size()) : error.message;
    if (options.json)
        printJson({{"case", caseName(options.folder)}, {"not_run_here", reason}});
    else
        std::printf("%s%s\n", lead.c_str(), reason.c_str());
    if (!error.hint.empty())
        std::fprintf(stderr, "  %s\n", error.hint.c_str());
    return NotHere;
}

int verifyIt(const Options& options)
{
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.folder, ignored))
        return report({ErrorCode::NotFound, options.folder + " is not a folder.",
                       "Give the folder of a recorded case."});
    const auto service = loadTrainingService();
    if (!service)
        return notRunHere(options, service.error());
    const auto answer = (*service)->verify({options.folder, options.exact});
    if (!answer && answer.error().code == ErrorCode::NotHere)
        return notRunHere(options, answer.error());
    if (!answer) { // A damaged case is no damaged history.
        const int code = report(answer.error());
        return code == DamagedHistory ? Unreadable : code;
    }
    if (options.json)
        printJson(reportJson(*answer));
    else
        printReport(*answer);
    return answer->inside ? Ok : Findings;
}

} // namespace

void addVerify(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand(
        "verify", "Replay a recorded trace and print the largest deviation of each quantity");
    command->add_option("CASE_DIR", options->folder, "Folder of the recorded case")->required();
    command->add_flag("--exact", options->exact, "Bit by bit (single process)");
    command->add_flag("--json", options->json, "One JSON object on standard output");
    command->callback([&run, options] { run = [options] { return verifyIt(*options); }; });
}

} // namespace mantissa::cli
