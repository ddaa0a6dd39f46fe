#include "engine/doctor/doctor.h"

#include "engine/core/counted.h"
#include "engine/core/places.h"
#include "engine/history/run_reader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using Mark = Examined::Mark;

constexpr double kGigabyte = 1e9;
constexpr double kLittleSpace = 1.0; ///< GB: a few long runs and their checkpoints.

std::string gigabytes(double bytes)
{
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.1f GB", bytes / kGigabyte);
    return text.data();
}

/// A value of /proc/meminfo, in bytes; negative where it is not told.
double memoryOf(std::string_view name)
{
    std::ifstream file("/proc/meminfo");
    std::string key;
    for (double value = 0; file >> key >> value; file.ignore(64, '\n'))
        if (key == std::string(name) + ":")
            return value * 1024.0;
    return -1.0;
}

Examined processor()
{
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    auto found = counted(cores, "core");
    if (const double all = memoryOf("MemTotal"); all > 0.0)
        found += ", " + gigabytes(all) + " of memory, " + gigabytes(memoryOf("MemAvailable")) + " free";
    return {"processor", "Processor", Mark::Good, found + ".", {}};
}

void addEngine(std::vector<Examined>& list, const Result<EngineReport>& engine)
{
    if (!engine) {
        list.push_back(
            {"engine", "Training engine", Mark::Missing, engine.error().message, engine.error().hint});
        return;
    }
    list.push_back({"engine", "Training engine", Mark::Good, engine->name + ", " + engine->device + ".", {}});
    for (const auto& note : engine->notes)
        list.push_back({"engine_note", "Accelerators", Mark::Note, note, {}});
}

Examined fashionMnist(const fs::path& asked)
{
    const fs::path folder = asked.empty() ? fs::path(kFashionMnistFolder) : asked;
    constexpr std::array kParts = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                   "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    std::error_code ignored;
    const auto isThere = [&](const char* part) {
        return fs::exists(folder / part, ignored)
            || fs::exists(folder / (std::string(part) + ".gz"), ignored);
    };
    const auto parts = static_cast<std::size_t>(std::count_if(kParts.begin(), kParts.end(), isThere));
    if (parts == kParts.size())
        return {"fashion_mnist", "Fashion-MNIST", Mark::Good, "In " + folder.string() + ".", {}};
    const auto found = parts == 0
        ? "Not in " + folder.string() + "."
        : "In " + folder.string() + " only " + std::to_string(parts) + " of 4 files.";
    return {"fashion_mnist", "Fashion-MNIST", Mark::Note, found,
            "Install Debian's package: apt-get install dataset-fashion-mnist. Other data need nothing."};
}

/// The folder itself, or where it would be made.
fs::path nearestFolder(fs::path folder)
{
    std::error_code ignored;
    while (!folder.empty() && !fs::exists(folder, ignored) && folder.has_parent_path()
           && folder != folder.parent_path())
        folder = folder.parent_path();
    return folder;
}

Examined history(const fs::path& folder)
{
    const auto place = nearestFolder(folder);
    std::error_code error;
    if (!fs::is_directory(place, error) || ::access(place.c_str(), W_OK | X_OK) != 0)
        return {"history", "History", Mark::Missing, "Nothing can be written into " + place.string() + ".",
                "Make it writable, or name another folder with --history."};
    const auto rows = listRuns(folder);
    if (!rows)
        return {"history", "History", Mark::Missing, rows.error().message, rows.error().hint};
    const auto broken = std::count_if(rows->begin(), rows->end(),
                                      [](const RunSummaryRow& row) { return !row.error.empty(); });
    auto found = counted(static_cast<std::int64_t>(rows->size()), "run") + " in " + folder.string();
    if (broken > 0)
        found += ", " + counted(broken, "of them", "of them") + " cannot be read";
    const auto space = fs::space(place, error);
    const auto free = error ? -1.0 : static_cast<double>(space.available);
    if (!error)
        found += ", " + gigabytes(free) + " free";
    if (!error && free < kLittleSpace * kGigabyte)
        return {"history", "History", Mark::Note, found + ".", "Make room: a checkpoint may not fit."};
    return {"history", "History", broken > 0 ? Mark::Note : Mark::Good, found + ".",
            broken > 0 ? "The page History and mantissa-cli runs say why for each." : ""};
}

Examined version()
{
    return {"version", "Mantissa", Mark::Good, std::string("Version ") + MANTISSA_VERSION + ".", {}};
}

} // namespace

std::string_view markId(Examined::Mark mark)
{
    switch (mark) {
    case Mark::Good:
        return "good";
    case Mark::Note:
        return "note";
    case Mark::Missing:
        break;
    }
    return "missing";
}

std::vector<Examined> examine(const Surroundings& surroundings, const Result<EngineReport>& engine)
{
    std::vector<Examined> list{version()};
    addEngine(list, engine);
    list.push_back(processor());
    list.push_back(fashionMnist(surroundings.fashionMnist));
    list.push_back(history(surroundings.history));
    return list;
}

} // namespace mantissa
