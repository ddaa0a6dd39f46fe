#include "tests/bench/machine_load.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace mantissa::bench {
namespace {

double wholeMachine()
{
    std::ifstream stat("/proc/stat");
    std::string name;
    stat >> name;
    double busy = 0.0;
    for (int field = 0; field < 8; ++field) {
        double ticks = 0.0;
        stat >> ticks;
        const bool idle = field == 3 || field == 4; // idle and iowait
        busy += idle ? 0.0 : ticks;
    }
    return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double thisProcess()
{
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

MachineLoad::MachineLoad() : m_whole(wholeMachine()), m_own(thisProcess()), m_began(now()) {}

double MachineLoad::otherCores() const
{
    const double others = (wholeMachine() - m_whole) - ownSeconds();
    return std::max(0.0, others / (now() - m_began));
}

double MachineLoad::ownSeconds() const
{
    return thisProcess() - m_own;
}

double peakResidentMegabytes()
{
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_maxrss) / 1024.0;
}

} // namespace mantissa::bench
