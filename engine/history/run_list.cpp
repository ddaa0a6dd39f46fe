#include "engine/history/run_folder.h"
#include "engine/history/run_reader.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace mantissa {
namespace {

RunSummaryRow unreadable(const std::filesystem::path& folder, const Error& error)
{
    RunSummaryRow row;
    row.folder = folder;
    row.name = folder.filename().string();
    // Folders end in the run's id, so that even a run that cannot be read can be named by it.
    row.id = row.name.substr(row.name.rfind('-') + 1);
    row.error = error.message;
    return row;
}

bool startsWith(const std::string& text, const std::string& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

std::string namesOf(const std::vector<const RunSummaryRow*>& rows)
{
    static constexpr std::size_t kMost = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(rows.size(), kMost); ++i)
        names += (i > 0 ? ", " : "") + rows[i]->id + " (" + rows[i]->name + ")";
    return rows.size() > kMost ? names + ", …" : names;
}

} // namespace

std::vector<RunSummaryRow> listRuns(const std::filesystem::path& history)
{
    std::vector<RunSummaryRow> rows;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(history, error), end; !error && entry != end;
         entry.increment(error)) {
        const auto folder = entry->path();
        std::error_code ignored;
        if (folder.filename().string().front() == '.' || !entry->is_directory(ignored))
            continue;
        // A folder with neither file is somebody else's and no run that broke.
        if (!std::filesystem::exists(folder / kRunFile, ignored)
            && !std::filesystem::exists(folder / kSetupFile, ignored))
            continue;
        const auto summary = summarizeRun(folder);
        rows.push_back(summary ? *summary : unreadable(folder, summary.error()));
    }
    std::sort(rows.begin(), rows.end(), [](const RunSummaryRow& a, const RunSummaryRow& b) {
        if (a.started != b.started)
            return a.started > b.started;
        return a.folder.filename() > b.folder.filename();
    });
    return rows;
}

Result<std::filesystem::path> findRun(const std::filesystem::path& history, const std::string& run)
{
    std::error_code ignored;
    if (!run.empty() && std::filesystem::exists(std::filesystem::path(run) / kRunFile, ignored))
        return std::filesystem::absolute(run).lexically_normal();
    const auto rows = listRuns(history);
    using Fits = bool (*)(const RunSummaryRow&, const std::string&);
    // The stricter way first: a whole name wins over the beginning of another.
    static constexpr Fits kWays[] = {
        [](const RunSummaryRow& row, const std::string& asked) { return row.id == asked; },
        [](const RunSummaryRow& row, const std::string& asked) {
            return row.name == asked || row.folder.filename() == asked;
        },
        [](const RunSummaryRow& row, const std::string& asked) {
            return startsWith(row.id, asked) || startsWith(row.name, asked)
                || startsWith(row.folder.filename().string(), asked);
        },
    };
    for (const auto fits : kWays) {
        std::vector<const RunSummaryRow*> found;
        for (const auto& row : rows)
            if (!run.empty() && fits(row, run))
                found.push_back(&row);
        if (found.size() == 1)
            return found.front()->folder;
        if (found.size() > 1)
            return Error{ErrorCode::NotFound,
                         "More than one run fits \"" + run + "\": " + namesOf(found) + ".",
                         "Give more of the id."};
    }
    return Error{ErrorCode::NotFound, "No run in " + history.string() + " is called \"" + run + "\".",
                 "mantissa-cli runs lists what there is; --history DIR looks elsewhere."};
}

} // namespace mantissa
