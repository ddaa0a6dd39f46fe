#include "ui/bridge/stored_run.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/path.h"
#include "engine/recipe/setup_file.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

constexpr std::size_t kScalePoints = 48;

std::string nameAt(const Setup& setup, const char* path)
{
    const auto& value = setup.at(path);
    return std::string(shortClassName(value.isMap() ? value["class_path"].asString() : value.asString()));
}

void readSetupFacts(RunFacts& facts, const Setup& setup)
{
    const auto& precision = setup.at("trainer.precision");
    facts.precision = precision.isAbsent() ? "32-true" : precision.asString(precision.text());
    facts.strategy = nameAt(setup, "trainer.strategy");
    facts.optimizer = nameAt(setup, "optimizer");
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
        if (!points || points->value.empty())
            continue;
        if (spec.name == "loss")
            facts.loss = points->value.back();
        else if (spec.name == "skipped")
            facts.skipped = std::count_if(points->value.begin(), points->value.end(),
                                          [](double value) { return value > 0.0; });
        else
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

} // namespace

RunFacts readRunFacts(const RunSummaryRow& row)
{
    RunFacts facts;
    const auto reader = RunReader::open(row.folder);
    if (!reader)
        return facts;
    if (const auto setup = (*reader)->setup())
        readSetupFacts(facts, readSetup(setup->yaml).setup);
    if (const auto catalogue = (*reader)->series())
        readSeriesFacts(facts, **reader, *catalogue);
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
    if (!catalogue)
        return catalogue.error();
    run.row = *row;
    run.setup = setup ? *setup : StoredSetup{};
    run.events = events ? *events : std::vector<RunEvent>{};
    run.checkpoints = checkpoints ? *checkpoints : std::vector<CheckpointRecord>{};
    for (const auto& spec : *catalogue) {
        const auto points = (*reader)->points(spec);
        if (!points)
            return points.error();
        run.series.push_back(*points);
    }
    if (const auto* skipped = seriesNamed(run.series, "skipped"))
        run.skipped = std::count_if(skipped->value.begin(), skipped->value.end(),
                                    [](double value) { return value > 0.0; });
    run.outline = outlineOf(readSetup(run.setup.yaml).setup, run.series);
    return run;
}

} // namespace mantissa::ui
