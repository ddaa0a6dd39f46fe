#include "engine/history/run_folder.h"
#include "engine/history/run_reader.h"
#include "engine/history/run_summary.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace mantissa {
namespace {

Error historyUnread(const std::filesystem::path& history, const std::error_code& error)
{
    return {ErrorCode::Io, "The history " + history.string() + " cannot be read: " + error.message() + ".",
            "It must be a folder that you may read. Another one is named with --history."};
}

/// A folder with neither file is somebody else's and no run that broke. One that does not let us look may be
/// a run.
bool mayBeRun(const std::filesystem::path& folder)
{
    for (const char* file : {kRunFile, kSetupFile}) {
        std::error_code error;
        const auto status = std::filesystem::symlink_status(folder / file, error);
        if (std::filesystem::exists(status) || error == std::errc::permission_denied)
            return true;
    }
    return false;
}

/// None where there is no such folder.
Result<std::filesystem::directory_iterator> entriesOf(const std::filesystem::path& history)
{
    std::error_code error;
    const auto isFolder = std::filesystem::is_directory(history, error);
    if (error == std::errc::no_such_file_or_directory
        && !std::filesystem::is_symlink(std::filesystem::symlink_status(history, error)))
        return std::filesystem::directory_iterator();
    if (!error && !isFolder)
        error = std::make_error_code(std::errc::not_a_directory);
    std::filesystem::directory_iterator entries;
    if (!error)
        entries = std::filesystem::directory_iterator(history, error);
    if (!error) // A folder may give its names and still hide what they stand for.
        (void)std::filesystem::status(history / ".", error);
    if (error)
        return historyUnread(history, error);
    return entries;
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
        names += (i > 0 ? ", " : "") + rows[i]->folder.filename().string();
    return rows.size() > kMost ? names + ", …" : names;
}

} // namespace

Result<std::vector<RunSummaryRow>> listRuns(const std::filesystem::path& history)
{
    std::vector<RunSummaryRow> rows;
    auto entries = entriesOf(history);
    if (!entries)
        return entries.error();
    std::error_code error;
    for (auto& entry = *entries; entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const auto folder = entry->path();
        std::error_code ignored;
        if (folder.filename().string().front() == '.' || !entry->is_directory(ignored) || !mayBeRun(folder))
            continue;
        const auto summary = summarizeRun(folder);
        rows.push_back(summary ? *summary : unreadableRun(folder, summary.error()));
    }
    if (error)
        return historyUnread(history, error);
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
    if (!run.empty() && std::filesystem::is_directory(run, ignored) && mayBeRun(run))
        return std::filesystem::absolute(run).lexically_normal();
    const auto rows = listRuns(history);
    if (!rows)
        return rows.error();
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
        for (const auto& row : *rows)
            if (!run.empty() && fits(row, run))
                found.push_back(&row);
        if (found.size() == 1)
            return found.front()->folder;
        if (found.size() > 1)
            return Error{ErrorCode::NotFound,
                         "More than one run fits \"" + run + "\": " + namesOf(found) + ".",
                         "Give the name of one of these folders, or more of the id."};
    }
    return Error{ErrorCode::NotFound, "No run in " + history.string() + " is called \"" + run + "\".",
                 "mantissa-cli runs lists what there is; --history DIR looks elsewhere."};
}

} // namespace mantissa
