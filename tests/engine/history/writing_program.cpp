// Writes a run until somebody kills it: a point a millisecond, whose value is the time at which it was
// recorded.
#include "engine/history/run_writer.h"
#include "tests/engine/history/run_fixture.h"

#include <chrono>
#include <cstdio>
#include <thread>

int main(int argc, char** argv)
{
    using namespace mantissa;
    if (argc != 2)
        return 2;
    auto writer = RunWriter::create(test::someRun(argv[1], "to be killed"));
    if (!writer)
        return 1;
    std::puts((*writer)->folder().c_str());
    std::fflush(stdout);
    (*writer)->setState(RunState::Running);
    for (std::int64_t step = 0;; ++step) {
        const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
        (*writer)->append(std::vector<Sample>{{0, step, 0.0, now.count()}, {1, step, 0.0, 0.0}});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}
