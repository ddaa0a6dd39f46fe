#include "engine/data/data_set.h"
#include "engine/data/file_bytes.h"
#include "engine/data/table_data_set.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace mantissa {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::size_t kChannels = 3;
constexpr std::size_t kPixels = kChannels * kSide * kSide;

/// One of the two versions: what a record begins with, and how its pictures are normalised everywhere.
struct Version {
    std::size_t labelBytes;
    int classes;
    std::vector<std::string> train;
    std::string test;
    std::array<float, kChannels> mean;
    std::array<float, kChannels> deviation;

    std::size_t record() const { return labelBytes + kPixels; }
};

Version versionOf(const CifarPlan& plan)
{
    if (plan.hundred)
        return {2, 100, {"train.bin"}, "test.bin", {0.5071F, 0.4865F, 0.4409F}, {0.2673F, 0.2564F, 0.2762F}};
    return {
        1,
        10,
        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        "test_batch.bin",
        {0.4914F, 0.4822F, 0.4465F},
        {0.2470F, 0.2435F, 0.2616F}};
}

/// What is wrong with a file's records, and where.
Result<void> checkRecords(const std::filesystem::path& file, const std::string& bytes, const Version& version)
{
    const std::size_t record = version.record();
    const auto damaged = [&](const std::string& what) {
        return Error{ErrorCode::Damaged, file.string() + ": " + what,
                     "Unpack the binary version of the data again, and check data.init_args.version."};
    };
    if (bytes.empty())
        return damaged("the file is empty.");
    if (bytes.size() % record != 0)
        return damaged("it ends inside record " + std::to_string(bytes.size() / record) + ": "
                       + std::to_string(bytes.size()) + " bytes are no multiple of " + std::to_string(record)
                       + ".");
    for (std::size_t at = version.labelBytes - 1; at < bytes.size(); at += record) {
        const int label = static_cast<unsigned char>(bytes[at]);
        if (label >= version.classes)
            return damaged("offset " + std::to_string(at) + ", record " + std::to_string(at / record)
                           + ": the class is " + std::to_string(label) + ", and there are "
                           + std::to_string(version.classes) + ".");
    }
    return {};
}

Result<std::string> readParts(const CifarPlan& plan, const Version& version, bool test)
{
    std::string all;
    for (const auto& name : test ? std::vector<std::string>{version.test} : version.train) {
        const auto file = std::filesystem::path(plan.folder) / name;
        const auto bytes = readDataFile(file, "data.init_args.folder");
        if (!bytes && bytes.error().code == ErrorCode::NotFound)
            return Error{ErrorCode::NotFound, bytes.error().message,
                         "data.init_args.folder names the folder of the binary version, with "
                             + version.train.front() + " and " + version.test + "."};
        if (!bytes)
            return bytes.error();
        if (auto sound = checkRecords(file, *bytes, version); !sound)
            return sound.error();
        all += *bytes;
    }
    return all;
}

} // namespace

Result<std::shared_ptr<const DataSet>> openCifar(const CifarPlan& plan, bool test)
{
    const Version version = versionOf(plan);
    auto bytes = readParts(plan, version, test);
    if (!bytes)
        return bytes.error();
    LabelledRows rows;
    rows.rowShape = plan.flat ? std::vector<std::int64_t>{static_cast<std::int64_t>(kPixels)}
                              : std::vector<std::int64_t>{kChannels, kSide, kSide};
    rows.classes = version.classes;
    for (std::size_t at = version.labelBytes - 1; at < bytes->size(); at += version.record())
        rows.labels.push_back(static_cast<unsigned char>((*bytes)[at]));
    rows.fill = [bytes = *std::move(bytes), version](std::int64_t row, float* into) {
        const char* pixel =
            bytes.data() + static_cast<std::size_t>(row) * version.record() + version.labelBytes;
        for (std::size_t i = 0; i < kPixels; ++i) {
            const std::size_t channel = i / (kPixels / kChannels);
            const auto shade = static_cast<float>(static_cast<unsigned char>(pixel[i])) / 255.0F;
            into[i] = (shade - version.mean[channel]) / version.deviation[channel];
        }
    };
    return makeLabelledRows(std::move(rows));
}

} // namespace mantissa
