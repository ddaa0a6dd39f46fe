#include "tests/bench/measurements.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

using mantissa::bench::BenchCase;

void addOptions(CLI::App& app, BenchCase& bench)
{
    app.add_option("--what", bench.what, "single, ddp, fsdp_full, or comm for the collectives alone")
        ->capture_default_str();
    app.add_option("--model", bench.model)
        ->check(CLI::IsMember({"gpt", "mlp4", "mlp"}))
        ->capture_default_str();
    app.add_option("--precision", bench.precision)->capture_default_str();
    app.add_option("--threads", bench.threads, "Of each rank")->check(CLI::PositiveNumber);
    app.add_option("--ranks", bench.ranks)->check(CLI::PositiveNumber);
    app.add_option("--impl", bench.impl)
        ->check(CLI::IsMember({"forloop", "loop", "foreach", "fused"}))
        ->capture_default_str();
    app.add_option("--recording", bench.recording, "off: no measuring, no history")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str();
    app.add_option("--seconds", bench.seconds, "Of all windows together")->check(CLI::PositiveNumber);
    app.add_option("--repeats", bench.repeats, "Windows; the median counts")->check(CLI::PositiveNumber);
    app.add_option("--vocab", bench.vocab);
    app.add_option("--ctx", bench.context);
    app.add_option("--d", bench.width, "Width of gpt");
    app.add_option("--heads", bench.heads);
    app.add_option("--layers", bench.layers);
    app.add_option("--batch", bench.batch, "Rows of gpt, of all ranks together");
    app.add_option("--width", bench.mlpWidth, "Of mlp4");
    app.add_option("--mlp-batch", bench.mlpBatch);
    app.add_option("--history", bench.history, "Keep the recorded run in this folder");
}

void print(const mantissa::bench::Json& line)
{
    std::puts(line.dump().c_str());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures the engine; prints a JSON line a measurement.");
    BenchCase bench;
    addOptions(app, bench);
    CLI11_PARSE(app, argc, argv);
    try {
        if (bench.what == "comm") {
            for (const auto& line : mantissa::bench::measureCollectives(bench))
                print(line);
        } else {
            print(mantissa::bench::measureTraining(bench));
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
