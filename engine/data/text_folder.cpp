#include "engine/data/data_set.h"
#include "engine/data/file_bytes.h"
#include "engine/data/table_data_set.h"

#include <algorithm>
#include <filesystem>

namespace mantissa {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30U;

Result<std::vector<fs::path>> textsIn(const TextFolderPlan& plan)
{
    std::error_code failure;
    std::vector<fs::path> files;
    fs::recursive_directory_iterator entry(plan.folder, failure);
    for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
        if (entry->is_regular_file(failure) && entry->path().filename().string().ends_with(plan.suffix))
            files.push_back(entry->path());
    }
    if (failure)
        return Error{ErrorCode::NotFound,
                     "Cannot read the folder " + plan.folder + ": " + failure.message() + ".",
                     "Check data.init_args.folder."};
    if (files.empty())
        return Error{ErrorCode::NotFound,
                     plan.folder + " holds no file whose name ends in “" + plan.suffix + "”.",
                     "Set data.init_args.suffix to how the names of its texts end."};
    std::sort(files.begin(), files.end());
    return files;
}

struct Texts {
    std::string bytes;
    std::vector<std::int64_t> begins; ///< Of each row.
};

Result<Texts> readTexts(const TextFolderPlan& plan, const std::vector<fs::path>& files)
{
    Texts texts;
    for (const auto& file : files) {
        const auto bytes = readDataFile(file, "data.init_args.folder");
        if (!bytes)
            return bytes.error();
        const auto begin = static_cast<std::int64_t>(texts.bytes.size());
        const auto size = static_cast<std::int64_t>(bytes->size());
        for (std::int64_t at = 0; at + plan.context < size; at += plan.context)
            texts.begins.push_back(begin + at);
        texts.bytes += *bytes;
        if (texts.bytes.size() > kMostBytes)
            return Error{ErrorCode::InvalidSetup,
                         plan.folder + " holds more than 4 GiB of texts, up to " + file.string() + ".",
                         "Use a part of them."};
    }
    return texts;
}

} // namespace

Result<std::shared_ptr<const DataSet>> openTextFolder(const TextFolderPlan& plan)
{
    const auto files = textsIn(plan);
    if (!files)
        return files.error();
    auto texts = readTexts(plan, *files);
    if (!texts)
        return texts.error();
    if (texts->begins.empty())
        return Error{ErrorCode::InvalidSetup,
                     plan.folder + " holds " + std::to_string(files->size())
                         + " texts, each too short for one row of " + std::to_string(plan.context)
                         + " tokens.",
                     "Use longer texts or a shorter context."};
    TokenRows rows{plan.context, 256, static_cast<std::int64_t>(texts->begins.size()), {}};
    rows.fill = [texts = *std::move(texts), context = plan.context](std::int64_t row, std::int64_t* into) {
        const char* from = texts.bytes.data() + texts.begins[static_cast<std::size_t>(row)];
        std::transform(from, from + context + 1, into,
                       [](char byte) { return std::int64_t{static_cast<unsigned char>(byte)}; });
    };
    return makeTokenRows(std::move(rows));
}

} // namespace mantissa
