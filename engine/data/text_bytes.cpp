#include "engine/core/counted.h"
#include "engine/data/data_set.h"
#include "engine/data/table_data_set.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace mantissa {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30U;

} // namespace

Result<std::shared_ptr<const DataSet>> openText(const TextPlan& plan)
{
    if (plan.file.empty())
        return Error{ErrorCode::InvalidSetup, "Text as data needs a file.",
                     "Set data.init_args.file to any file."};
    std::error_code failure;
    const auto size = std::filesystem::file_size(plan.file, failure);
    if (failure)
        return Error{ErrorCode::NotFound, "Cannot read the text " + plan.file + ": " + failure.message(),
                     "Check data.init_args.file."};
    if (size > kMostBytes)
        return Error{ErrorCode::InvalidSetup, plan.file + " is larger than 4 GiB.", "Use a part of it."};
    const std::int64_t count = (static_cast<std::int64_t>(size) - 1) / plan.context;
    if (count < 1)
        return Error{ErrorCode::InvalidSetup,
                     plan.file + " has " + counted(static_cast<std::int64_t>(size), "byte")
                         + ", too few for one row of " + counted(plan.context, "token") + ".",
                     "Use a longer file or a shorter context."};
    std::string bytes(size, '\0');
    std::ifstream in(plan.file, std::ios::binary);
    if (!in.read(bytes.data(), static_cast<std::streamsize>(size)))
        return Error{ErrorCode::Io, "Cannot read " + plan.file + ": " + std::strerror(errno) + ".",
                     "Check data.init_args.file: it must be a file that you may read."};

    TokenRows rows{plan.context, 256, count, {}};
    rows.fill = [bytes = std::move(bytes), context = plan.context](std::int64_t row, std::int64_t* into) {
        const char* from = bytes.data() + row * context;
        std::transform(from, from + context + 1, into,
                       [](char byte) { return std::int64_t{static_cast<unsigned char>(byte)}; });
    };
    return makeTokenRows(std::move(rows));
}

} // namespace mantissa
