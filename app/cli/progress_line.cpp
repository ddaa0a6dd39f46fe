#include "app/cli/progress_line.h"

#include "app/cli/printable.h"
#include "app/cli/text_table.h"
#include "engine/core/counted.h"

#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace mantissa::cli {
namespace {

constexpr auto kPlainEvery = std::chrono::seconds(5);

} // namespace

std::string durationText(double seconds)
{
    const auto whole = static_cast<long long>(std::ceil(seconds));
    if (whole < 60)
        return std::to_string(whole) + " s";
    if (whole < 3600)
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

ProgressLine::ProgressLine() : m_onTerminal(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(TrainingRun& run)
{
    drain(run);
    const auto now = std::chrono::steady_clock::now();
    const auto progress = run.progress();
    if (now < m_next || progress.step == 0)
        return;
    if (!m_onTerminal)
        m_next = now + kPlainEvery;
    print(text(progress));
}

void ProgressLine::say(const std::string& text)
{
    if (m_width > 0)
        std::fprintf(stderr, "\r%*s\r", static_cast<int>(m_width), "");
    m_width = 0;
    std::fprintf(stderr, "%s\n", printable(text).c_str());
}

void ProgressLine::end(TrainingRun& run)
{
    drain(run);
    print(text(run.progress()));
    if (m_onTerminal)
        std::fputc('\n', stderr);
    m_width = 0;
}

void ProgressLine::drain(TrainingRun& run)
{
    if (m_series.empty())
        m_series = run.series();
    for (const auto& sample : run.feed().drain()) {
        if (static_cast<std::size_t>(sample.series) >= m_series.size())
            continue;
        const auto& spec = m_series[static_cast<std::size_t>(sample.series)];
        if (spec.rank >= 0)
            continue;
        if (spec.name == "loss")
            m_loss = sample.value;
        else if (spec.name == "loss_scale")
            m_scale = sample.value;
    }
}

std::string ProgressLine::text(const RunProgress& progress) const
{
    std::string line = "step " + std::to_string(progress.step);
    if (progress.total > 0)
        line += "/" + std::to_string(progress.total);
    if (m_loss)
        line += "  loss " + shortNumber(*m_loss);
    if (m_scale)
        line += "  scale " + shortNumber(*m_scale);
    line += "  skipped " + std::to_string(progress.skipped);
    if (progress.lostPoints > 0)
        line += "  LOST " + counted(static_cast<std::int64_t>(progress.lostPoints), "point");
    else if (!progress.historyTrouble.empty())
        line += "  history in trouble";
    if (progress.unshownPoints > 0)
        line += "  not shown " + std::to_string(progress.unshownPoints);
    if (progress.secondsLeft >= 0.0 && progress.step < progress.total)
        line += "  " + durationText(progress.secondsLeft) + " left";
    return line;
}

void ProgressLine::print(const std::string& line)
{
    if (!m_onTerminal) {
        std::fprintf(stderr, "%s\n", line.c_str());
        return;
    }
    const int padding = m_width > line.size() ? static_cast<int>(m_width - line.size()) : 0;
    std::fprintf(stderr, "\r%s%*s", line.c_str(), padding, "");
    std::fflush(stderr);
    m_width = line.size();
}

} // namespace mantissa::cli
