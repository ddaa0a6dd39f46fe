#include "engine/history/run_folder.h"

#include "engine/history/run_reader.h"

#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

namespace mantissa {
namespace {

std::string utc(std::chrono::system_clock::time_point time, const char* format)
{
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts = {};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text = {};
    const auto length = std::strftime(text.data(), text.size(), format, &parts);
    return {text.data(), length};
}

Error cannotMake(const std::filesystem::path& path, const std::error_code& reason)
{
    return {ErrorCode::Io,
            "The run's folder cannot be made: " + path.string() + ": " + reason.message() + ".",
            "Choose a folder that you may write to, with --history DIR."};
}

} // namespace

std::string newRunId()
{
    static constexpr std::string_view kAlphabet = "23456789abcdefghjkmnpqrstuvwxyz";
    std::random_device device;
    std::uniform_int_distribution<std::size_t> pick(0, kAlphabet.size() - 1);
    std::string id;
    for (int i = 0; i < 8; ++i)
        id += kAlphabet[pick(device)];
    return id;
}

std::string utcText(std::chrono::system_clock::time_point time)
{
    return utc(time, "%Y-%m-%dT%H:%M:%SZ");
}

std::string fileSafe(std::string_view name)
{
    static constexpr std::size_t kMost = 40;
    std::string safe;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool keep = byte >= 0x80 || std::isalnum(byte) || c == '_' || c == '.';
        if (keep && !(safe.empty() && c == '.'))
            safe += c;
        else if (!safe.empty() && safe.back() != '-')
            safe += '-';
    }
    if (safe.size() > kMost) {
        std::size_t end = kMost; // Not within a character: its later bytes are 10xxxxxx.
        while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xC0) == 0x80)
            --end;
        safe.resize(end);
    }
    while (!safe.empty() && safe.back() == '-')
        safe.pop_back();
    return safe.empty() ? "run" : safe;
}

std::string runFolderName(std::chrono::system_clock::time_point started, std::string_view name,
                          std::string_view id)
{
    return utc(started, "%Y%m%d-%H%M%S") + "-" + fileSafe(name) + "-" + std::string(id);
}

Result<StagedFolder> StagedFolder::make(const std::filesystem::path& history, const std::string& id)
{
    std::error_code error;
    std::filesystem::create_directories(history, error);
    if (error)
        return cannotMake(history, error);
    StagedFolder staged(history / (".new-" + id));
    std::filesystem::create_directories(staged.m_path / kCheckpointFolder, error);
    if (error)
        return cannotMake(staged.m_path, error);
    return staged;
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}

StagedFolder::~StagedFolder()
{
    if (m_path.empty())
        return;
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

Result<void> StagedFolder::write(const char* file, std::string_view text) const
{
    std::ofstream out(m_path / file, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out)
        return cannotMake(m_path / file, std::make_error_code(std::errc::io_error));
    return {};
}

Result<std::filesystem::path> StagedFolder::publish(const std::string& name)
{
    const auto target = m_path.parent_path() / name;
    std::error_code error;
    std::filesystem::rename(m_path, target, error); // Refuses a folder that is there and not empty.
    if (error)
        return cannotMake(target, error);
    m_path.clear();
    return target;
}

std::filesystem::path defaultHistory()
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables here.
    const char* data = std::getenv("XDG_DATA_HOME");
    if (data && std::filesystem::path(data).is_absolute())
        return std::filesystem::path(data) / "mantissa" / "history";
    const char* home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe)
    return std::filesystem::path(home && *home ? home : ".") / ".local" / "share" / "mantissa" / "history";
}

} // namespace mantissa
