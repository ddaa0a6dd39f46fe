#include "engine/callbacks/callback.h"
#include "engine/callbacks/logged_names.h"
#include "engine/comm/communicator.h"

#include <array>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace mantissa {
namespace {

/// Time that the processors spent, in ticks since the machine started.
struct ProcessorTime {
    double busy = 0.0;
    double all = 0.0;
};

ProcessorTime processorTime()
{
    std::ifstream in("/proc/stat");
    std::string word;
    in >> word; // "cpu": user nice system idle iowait irq softirq steal
    ProcessorTime time;
    for (int i = 0; i < 8; ++i) {
        double ticks = 0.0;
        if (!(in >> ticks))
            break;
        time.all += ticks;
        time.busy += i == 3 || i == 4 ? 0.0 : ticks;
    }
    return time;
}

struct Memory {
    double total = 0.0;
    double available = 0.0;
    double swapTotal = 0.0;
    double swapFree = 0.0;
};

Memory memory()
{
    Memory found;
    const std::array<std::pair<const char*, double*>, 4> wanted = {{{"MemTotal:", &found.total},
                                                                    {"MemAvailable:", &found.available},
                                                                    {"SwapTotal:", &found.swapTotal},
                                                                    {"SwapFree:", &found.swapFree}}};
    std::ifstream in("/proc/meminfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        double kilobytes = 0.0;
        words >> name >> kilobytes;
        for (const auto& [key, into] : wanted) {
            if (name == key)
                *into = kilobytes;
        }
    }
    return found;
}

double residentBytes()
{
    std::ifstream in("/proc/self/statm");
    double pages = 0.0;
    double resident = 0.0;
    in >> pages >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double percent(double part, double whole)
{
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

class DeviceStats final : public Callback {
public:
    explicit DeviceStats(const DeviceStatsPlan& plan) : m_plan(plan) {}

    void onTrainStart(TrainingView&) override { m_last = processorTime(); }
    void onTrainBatchEnd(TrainingView& view) override
    {
        const bool due = view.endsWindow() && (view.step() - 1) % m_plan.everySteps == 0;
        if (!due || view.communicator().rank() != 0)
            return;
        const ProcessorTime now = processorTime();
        const Memory kept = memory();
        view.log(kProcessorShare, percent(now.busy - m_last.busy, now.all - m_last.all));
        view.log(kMemoryShare, percent(kept.total - kept.available, kept.total));
        view.log(kSwapShare, percent(kept.swapTotal - kept.swapFree, kept.swapTotal));
        view.log(kProcessMemory, residentBytes());
        m_last = now;
    }

private:
    DeviceStatsPlan m_plan;
    ProcessorTime m_last;
};

} // namespace

std::unique_ptr<Callback> makeDeviceStats(const DeviceStatsPlan& plan)
{
    return std::make_unique<DeviceStats>(plan);
}

} // namespace mantissa
