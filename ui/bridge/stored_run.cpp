#include "ui/bridge/stored_run.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/path.h"
#include "engine/recipe/setup_file.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mantissa::ui {
namespace {

constexpr std::size_t kScalePoints = 48;

std::string nameAt(const Setup& setup, const char* path)
{
    const auto& value = setup.at(path);
    return std::string(shortClassName(value.isMap() ? value["class_path"].asString() : value.asString()));
}

void readSetupFacts(RunFacts& facts, const std::string& yaml)
{
    const auto file = readSetup(yaml);
    if (!file.isReadable() || file.setup == Setup())
        return; // Not known is not the same as the default.
    const auto& setup = file.setup;
    facts.precision = precisionName(setup);
    facts.strategy = strategyAsked(setup);
    facts.optimizer = bringsOptimizers(setup) ? "Adam, Adam" : nameAt(setup, "optimizer");
    if (setup.at("optimizer.init_args.fused").asBool())
        facts.optimizer += " fused";
}

std::vector<double> thinned(const std::vector<double>& values)
{
    std::vector<double> few;
    const auto stride = std::max<std::size_t>(1, values.size() / kScalePoints);
    for (std::size_t at = 0; at < values.size(); at += stride)
        few.push_back(values[at]);
    return few;
}

/// A step of the run may skip several optimizer steps.
std::int64_t sumOf(const std::vector<double>& counts)
{
    return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
}

std::optional<double> lastFinite(const std::vector<double>& values)
{
    const auto last =
        std::find_if(values.rbegin(), values.rend(), [](double value) { return std::isfinite(value); });
    return last == values.rend() ? std::nullopt : std::optional(*last);
}

void readSeriesFacts(RunFacts& facts, const RunReader& reader, const std::vector<SeriesSpec>& catalogue)
{
    for (const auto& spec : catalogue) {
        facts.ranks = std::max(facts.ranks, spec.rank + 1);
        const bool wanted = spec.rank < 0 && spec.split == "train"
            && (spec.name == "loss" || spec.name == "skipped" || spec.name == "loss_scale");
        const auto points = wanted ? reader.points(spec) : Result<SeriesPoints>(SeriesPoints{});
        if (!points)
            facts.error = points.error().message;
        if (!points || !wanted)
            continue;
        if (spec.name == "skipped")
            facts.skipped = sumOf(points->value);
        else if (spec.name == "loss" && !points->value.empty())
            facts.loss = points->value.back();
        else if (spec.name == "loss_scale")
            facts.scale = thinned(points->value);
    }
}

const SeriesPoints* seriesNamed(const std::vector<SeriesPoints>& series, std::string_view name)
{
    const auto found = std::find_if(series.begin(), series.end(),
                                    [&](const SeriesPoints& each) { return each.spec.name == name; });
    return found == series.end() || found->value.empty() ? nullptr : &*found;
}

/// From what was recorded, where the set-up itself does not plan here (another version's, another machine's).
RunOutline outlineOfPoints(const Setup& setup, const std::vector<SeriesPoints>& series)
{
    RunOutline outline;
    outline.precision = precisionWithId(precisionName(setup)).value_or(PrecisionMode::Fp32True);
    outline.scaled = seriesNamed(series, "loss_scale") != nullptr;
    for (const auto& each : series)
        outline.ranks = std::max(outline.ranks, each.spec.rank + 1);
    if (const auto* clipped = seriesNamed(series, "grad_norm_clipped"); clipped && lastFinite(clipped->value))
        outline.clip = ClipKind::Value; // Whether there is a threshold to draw is not known.
    return outline;
}

RunOutline outlineOf(const Setup& setup, const std::vector<SeriesPoints>& series)
{
    const auto plan = planRun(setup);
    auto outline = plan ? ui::outlineOf(*plan) : outlineOfPoints(setup, series);
    outline.validated = seriesNamed(series, "val_loss") != nullptr;
    return outline;
}

/// What could be read, else nothing, and why.
template <typename Part>
Part valueOr(const Result<Part>& part, std::vector<std::string>& damage)
{
    if (part)
        return *part;
    const auto& message = part.error().message;
    if (std::find(damage.begin(), damage.end(), message) == damage.end())
        damage.push_back(message);
    return {};
}

} // namespace

RunFacts readRunFacts(const RunSummaryRow& row)
{
    RunFacts facts;
    const auto reader = RunReader::open(row.folder);
    if (!reader) {
        facts.error = reader.error().message;
        return facts;
    }
    if (const auto setup = (*reader)->setup())
        readSetupFacts(facts, setup->yaml);
    else
        facts.error = setup.error().message;
    if (const auto catalogue = (*reader)->series())
        readSeriesFacts(facts, **reader, *catalogue);
    else
        facts.error = catalogue.error().message;
    return facts;
}

Result<StoredRun> readStoredRun(const std::filesystem::path& folder)
{
    const auto reader = RunReader::open(folder);
    if (!reader)
        return reader.error();
    StoredRun run;
    const auto row = (*reader)->summary();
    const auto setup = (*reader)->setup();
    const auto catalogue = (*reader)->series();
    const auto events = (*reader)->events();
    const auto checkpoints = (*reader)->checkpoints();
    if (!row)
        return row.error();
    run.row = *row;
    run.setup = valueOr(setup, run.damage);
    run.events = valueOr(events, run.damage);
    run.checkpoints = valueOr(checkpoints, run.damage);
    for (const auto& spec : valueOr(catalogue, run.damage)) {
        auto points = valueOr((*reader)->points(spec), run.damage);
        points.spec = spec;
        run.series.push_back(std::move(points));
    }
    if (const auto* skipped = seriesNamed(run.series, "skipped"))
        run.skipped = sumOf(skipped->value);
    run.outline = outlineOf(readSetup(run.setup.yaml).setup, run.series);
    return run;
}

Result<void> lookAtHistory(const std::filesystem::path& history)
{
    std::error_code failed;
    const std::filesystem::directory_iterator entries(history, failed);
    if (!failed)
        return {};
    const auto runs = listRuns(history); // Nothing to read there; it says why.
    return runs ? Result<void>() : Result<void>(runs.error());
}

} // namespace mantissa::ui
