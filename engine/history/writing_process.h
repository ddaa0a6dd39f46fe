#pragma once

#include <filesystem>
#include <string>

namespace mantissa {

/// Who writes a run: enough to tell later, on any machine, whether that process still lives.
struct WritingProcess {
    std::string host;
    std::string bootId; ///< Differs after each start of the machine.
    long pid = 0;
    std::string
        startTicks; ///< When the process began: a number used again for another process is no proof of life.

    bool operator==(const WritingProcess&) const = default;
};

WritingProcess thisProcess();

enum class Liveness { Alive, Dead, OtherHost };
Liveness livenessOf(const WritingProcess& process);

/// Whether a folder is on a network file system, where SQLite's WAL does not work.
bool isOnNetwork(const std::filesystem::path& folder);

} // namespace mantissa
