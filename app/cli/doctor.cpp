#include "engine/doctor/doctor.h"

#include "app/cli/command.h"
#include "app/cli/history_option.h"
#include "app/cli/json_text.h"
#include "app/cli/text_table.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace mantissa::cli {
namespace {

struct Options {
    std::string history;
    bool json = false;
};

void printRows(const std::vector<Examined>& rows)
{
    TextTable table({"", "TOPIC", "FOUND"});
    for (const auto& row : rows) {
        table.add({std::string(markId(row.mark)), row.topic, row.found});
        if (!row.hint.empty())
            table.add({"", "", row.hint});
    }
    table.print();
}

int examineHere(const Options& options)
{
    const auto service = loadTrainingService();
    const auto engine =
        service ? Result<EngineReport>((*service)->describe()) : Result<EngineReport>(service.error());
    const auto rows = examine({options.history, {}}, engine);
    if (options.json) {
        auto list = Json::array();
        for (const auto& row : rows)
            list.push_back({{"id", row.id},
                            {"topic", row.topic},
                            {"state", markId(row.mark)},
                            {"found", row.found},
                            {"hint", row.hint}});
        printJson(list);
    } else {
        printRows(rows);
    }
    const bool missing = std::any_of(rows.begin(), rows.end(),
                                     [](const Examined& row) { return row.mark == Examined::Mark::Missing; });
    return missing ? NotHere : Ok;
}

} // namespace

void addDoctor(CLI::App& app, std::function<int()>& run)
{
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("doctor", "Say what was found here and what is missing");
    addHistoryOption(*command, options->history);
    command->add_flag("--json", options->json, "One JSON array on standard output");
    command->callback([&run, options] { run = [options] { return examineHere(*options); }; });
}

} // namespace mantissa::cli
