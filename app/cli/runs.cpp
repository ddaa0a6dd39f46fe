#include "app/cli/command.h"
#include "app/cli/history_option.h"
#include "app/cli/json_text.h"
#include "app/cli/printable.h"
#include "app/cli/run_json.h"
#include "app/cli/text_table.h"

#include <cstdio>
#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string history;
    bool json = false;
};

constexpr std::size_t kWidestName = 48;

std::string nameOf(const RunSummaryRow& row)
{
    return cutTo(printable(row.name), kWidestName);
}

void printTable(const std::vector<RunSummaryRow>& rows)
{
    TextTable table({"RUN", "NAME", "STATE", "STEPS", "STARTED", "HOST"});
    for (const auto& row : rows) {
        if (row.error.empty())
            table.add(
                {row.id, nameOf(row), stateWords(row), std::to_string(row.steps), row.started, row.host});
        else
            table.add({row.id, nameOf(row), row.stateText, "", "", ""});
    }
    table.print();
}

int listThem(const Options& options)
{
    const auto rows = listRuns(options.history);
    if (!rows)
        return report(rows.error());
    if (options.json) {
        auto list = Json::array();
        for (const auto& row : *rows)
            list.push_back(runJson(row));
        printJson(list);
        return Ok;
    }
    if (rows->empty())
        std::printf("No runs in %s.\n", printable(options.history).c_str());
    else
        printTable(*rows);
    for (const auto& row : *rows)
        if (!row.error.empty())
            (void)report({ErrorCode::Damaged, row.error, row.hint});
    return Ok;
}

} // namespace

void addRuns(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("runs", "List the stored runs, newest first");
    addHistoryOption(*command, options->history);
    command->add_flag("--json", options->json, "One JSON array on standard output");
    command->callback([&run, options] { run = [options] { return listThem(*options); }; });
}

} // namespace mantissa::cli
