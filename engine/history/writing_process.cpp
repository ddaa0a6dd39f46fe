#include "engine/history/writing_process.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <sys/vfs.h>
#include <unistd.h>

namespace mantissa {
namespace {

std::string hostName()
{
    std::array<char, 256> name = {};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string("localhost");
}

std::string bootId()
{
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    file >> id;
    return id;
}

/// Field 22 of /proc/PID/stat. The second field, the name, may hold spaces and brackets: read on after the
/// last one.
std::string startTicks(long pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto bracket = line.rfind(')');
    if (bracket == std::string::npos)
        return {};
    std::istringstream rest(line.substr(bracket + 1));
    std::string field;
    rest >> field;
    if (field == "Z") // Killed, and not yet collected by its parent.
        return {};
    for (int number = 4; number <= 22; ++number)
        rest >> field;
    return field;
}

} // namespace

WritingProcess thisProcess()
{
    const long pid = getpid();
    return {hostName(), bootId(), pid, startTicks(pid)};
}

Liveness livenessOf(const WritingProcess& process)
{
    if (process.host != hostName())
        return Liveness::OtherHost;
    if (process.bootId != bootId())
        return Liveness::Dead;
    const std::string ticks = startTicks(process.pid);
    return !ticks.empty() && ticks == process.startTicks ? Liveness::Alive : Liveness::Dead;
}

bool isOnNetwork(const std::filesystem::path& folder)
{
    // From statfs(2) and the file systems' own sources. FUSE may be anything; the careful answer is yes.
    static constexpr std::array<std::uint32_t, 14> kNetwork = {
        0x6969,     0x517B,     0xFF534D42, 0xFE534D42,
        0x65735546, 0x5346414F, 0x00C36400, // NFS SMB CIFS SMB2 FUSE AFS Ceph
        0x0BD00BD0, 0x47504653, 0x01021997, 0x73757245,
        0x19830326, 0xAAD7AAEA, 0x7461636F, // Lustre GPFS 9P Coda BeeGFS PanFS OCFS2
    };
    struct statfs answer = {};
    if (statfs(folder.c_str(), &answer) != 0)
        return false;
    return std::find(kNetwork.begin(), kNetwork.end(), static_cast<std::uint32_t>(answer.f_type))
        != kNetwork.end();
}

} // namespace mantissa
