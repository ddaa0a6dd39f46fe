#include "engine/train/verify_trace.h"

#include "engine/train/trace_choice.h"
#include "engine/train/trace_optimizer.h"
#include "engine/train/trace_strategy.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>

namespace mantissa {

using Json = nlohmann::json;

std::string traceProblem(const std::exception& error)
{
    std::string words = error.what();
    if (dynamic_cast<const Json::exception*>(&error)) // "[json.exception.type_error.302] type must …"
        words.erase(0, std::min(words.size(), words.find("] ") + 2));
    else if (dynamic_cast<const std::invalid_argument*>(&error))
        words = "a key that counts epochs, batches or steps is no number";
    return words;
}

namespace {

constexpr std::uintmax_t kMostBytes = 64U << 20U;

using Missing = TraceLack;

constexpr std::array kClips = {
    Choice<ClipKind>{"none", ClipKind::None},
    Choice<ClipKind>{"norm", ClipKind::Norm},
    Choice<ClipKind>{"value", ClipKind::Value},
};

/// Reads a part of the trace, and says which where it is not sound.
template <typename Read>
auto part(const char* name, Read read)
{
    try {
        return read();
    } catch (const Json::exception& error) {
        throw std::runtime_error(std::string(name) + ": " + traceProblem(error));
    }
}

PrecisionMode precisionOf(const Json& json)
{
    const auto name = json.get<std::string>();
    if (const auto mode = precisionWithId(name))
        return *mode;
    throw Missing("the precision " + name);
}

ModelPlan modelOf(const Json& json)
{
    const auto type = json.at("type").get<std::string>();
    if (type == "mlp")
        return MlpPlan{json.value("din", std::int64_t{64}), json.value("hidden", std::int64_t{128}),
                       json.value("classes", std::int64_t{10}), 3};
    if (type == "conv")
        return ConvNetPlan{8, 16, 12, json.value("classes", std::int64_t{10}), json.value("bn", false)};
    if (type != "gpt")
        throw Missing("the model " + type);
    TransformerPlan plan;
    plan.vocab = json.value("vocab", std::int64_t{128});
    plan.context = json.value("ctx", std::int64_t{32});
    plan.width = json.value("d", std::int64_t{64});
    plan.heads = json.value("heads", std::int64_t{4});
    plan.layers = json.value("layers", std::int64_t{2});
    plan.tiedHead = json.value("tied", false);
    plan.explicitAttention = json.value("attention", "sdpa") == "explicit";
    return plan;
}

ScalerPlan scalerOf(const Json& json)
{
    if (!json.is_object())
        return {};
    ScalerPlan plan;
    plan.enabled = json.value("enabled", true);
    plan.initScale = json.value("init_scale", plan.initScale);
    plan.growthFactor = json.value("growth_factor", plan.growthFactor);
    plan.backoffFactor = json.value("backoff_factor", plan.backoffFactor);
    plan.growthInterval = json.value("growth_interval", plan.growthInterval);
    return plan;
}

std::vector<FaultPlan> faultsOf(const Json& json)
{
    std::vector<FaultPlan> faults;
    const auto ranks = json.value("inject_ranks", std::vector<int>{-1});
    const Json factors = json.value("inject_loss_factor", Json::object());
    const Json hits = json.value("inject_grad_inf", Json::object());
    for (const auto& [batch, factor] : factors.items()) {
        for (const int rank : ranks)
            faults.push_back({0, rank, FaultKind::Factor, factor.get<double>(), std::stoll(batch), false});
    }
    for (const auto& [step, hit] : hits.items()) {
        for (const auto& rank : hit)
            faults.push_back({std::stoll(step), rank.get<int>(), FaultKind::Inf, 0.0, -1, false, true});
    }
    return faults;
}

void readEngine(const Json& json, RunPlan& plan)
{
    plan.ranks = json.at("world");
    plan.threadsPerRank = json.value("threads_per_rank", 1);
    plan.batchSize = json.at("global_batch_size");
    plan.noSync = json.value("sync", "no_sync") != "each";
    const Json& engine = json.at("engine");
    if (engine.at("type") == "ddp") {
        plan.strategy = StrategyKind::Ddp;
        plan.precision = precisionOf(engine.at("precision"));
    } else {
        readShardedEngine(engine, plan);
    }
}

RunPlan planOf(const Json& json, const std::filesystem::path& folder)
{
    RunPlan plan;
    if (json.value("kind", "single") == "dist") {
        part("engine", [&] { readEngine(json, plan); });
    } else {
        plan.precision = precisionOf(json.at("precision"));
        plan.batchSize = json.at("batch_size");
        plan.threadsPerRank = json.value("threads", 1);
    }
    plan.optimizer = part("optimizer", [&] { return traceOptimizer(json.at("optimizer")); });
    plan.schedule = part("scheduler", [&] { return traceSchedule(json.at("scheduler")); });
    plan.schedule.holdOnSkip = json.value("scheduler_on_skip", "advance") == "hold";
    if (plan.schedule.movesMomentum() && plan.optimizer.hasMomentum())
        plan.optimizer.momentum = plan.schedule.oneCycle.maxMomentum;
    plan.clip.kind = choose(json.at("clip").at("type"), kClips, "clipping by");
    plan.clip.value = json["clip"].value("value", 0.0);
    plan.clip.normType = json["clip"].value("p", 2.0);
    plan.accumulate.clear();
    for (const auto& [epoch, count] : json.at("accumulate").items())
        plan.accumulate[std::stoll(epoch)] = count.get<std::int64_t>();
    plan.scaler = part("scaler", [&] { return scalerOf(json.at("scaler")); });
    plan.explicitUnscale = json.value("explicit_unscale", !plan.optimizer.selfUnscaling());
    plan.model = part("model", [&] { return modelOf(json.at("model")); });
    plan.faults = part("inject", [&] { return faultsOf(json); });
    plan.maxEpochs = json.at("epochs");
    const Json& files = json.at("files");
    plan.data = TracePlan{(folder / files.at("data").get<std::string>()).string(),
                          (folder / files.at("init").get<std::string>()).string(),
                          json.at("batches_per_epoch").get<std::int64_t>()};
    plan.checkpoints.atEnd = false;
    return plan;
}

/// A count of a trace, and the range in which it makes sense.
struct Bound {
    const char* name;
    std::int64_t value;
    std::int64_t least;
    std::int64_t most;
};

std::vector<Bound> boundsOf(const RunPlan& plan)
{
    constexpr std::int64_t kMostWide = 1 << 16;
    constexpr std::int64_t kMostSteps = 1'000'000;
    const auto& data = std::get<TracePlan>(plan.data);
    std::vector<Bound> bounds = {
        {"world", plan.ranks, 1, 64},
        {"threads", plan.threadsPerRank, 1, 1024},
        {"batch_size", plan.batchSize, 1, kMostWide},
        {"epochs", plan.maxEpochs, 1, 10'000},
        {"batches_per_epoch", data.batchesPerEpoch, 1, kMostSteps},
        {"scheduler.step_size", plan.schedule.stepSize, 1, kMostSteps},
        {"scheduler.warmup", plan.schedule.warmup, 0, kMostSteps},
        {"scheduler.total", plan.schedule.total, 0, kMostSteps},
        {"scheduler.total_steps", plan.schedule.oneCycle.totalSteps,
         plan.schedule.kind == ScheduleKind::OneCycle ? 1 : 0, kMostSteps},
        {"scaler.growth_interval", plan.scaler.growthInterval, 1, std::numeric_limits<std::int64_t>::max()},
    };
    for (const auto& [epoch, count] : plan.accumulate) {
        bounds.push_back({"accumulate's epoch", epoch, 0, kMostSteps});
        bounds.push_back({"accumulate's count", count, 1, kMostSteps});
    }
    if (const auto* mlp = std::get_if<MlpPlan>(&plan.model)) {
        bounds.insert(bounds.end(),
                      {{"model.din", mlp->inputs, 1, kMostWide},
                       {"model.hidden", mlp->hidden, 1, kMostWide},
                       {"model.classes", mlp->classes, 1, kMostWide}});
    } else if (const auto* conv = std::get_if<ConvNetPlan>(&plan.model)) {
        bounds.push_back({"model.classes", conv->classes, 1, kMostWide});
    } else if (const auto* gpt = std::get_if<TransformerPlan>(&plan.model)) {
        bounds.insert(bounds.end(),
                      {{"model.vocab", gpt->vocab, 1, kMostWide},
                       {"model.ctx", gpt->context, 1, kMostWide},
                       {"model.d", gpt->width, 1, kMostWide},
                       {"model.heads", gpt->heads, 1, gpt->width},
                       {"model.layers", gpt->layers, 1, 256}});
    }
    return bounds;
}

void refuseOddCounts(const RunPlan& plan)
{
    for (const auto& bound : boundsOf(plan)) {
        if (bound.value < bound.least || bound.value > bound.most)
            throw std::out_of_range(std::string(bound.name) + " is " + std::to_string(bound.value)
                                    + ", and has to be at least " + std::to_string(bound.least)
                                    + " and at most " + std::to_string(bound.most));
    }
    const auto* gpt = std::get_if<TransformerPlan>(&plan.model);
    if (gpt && gpt->width % gpt->heads != 0)
        throw std::out_of_range("model.heads does not divide model.d");
}

TraceGrade gradeOf(const RunPlan& plan)
{
    switch (plan.precision) {
    case PrecisionMode::Fp32True:
    case PrecisionMode::Fp64True:
        return TraceGrade::Fp32;
    case PrecisionMode::Bf16Mixed:
    case PrecisionMode::Fp16Mixed:
        return TraceGrade::Mixed;
    default:
        return TraceGrade::Half;
    }
}

bool isChaotic(const RunPlan& plan)
{
    const auto* conv = std::get_if<ConvNetPlan>(&plan.model);
    const bool bf16Norm = conv && conv->batchNorm
        && (plan.precision == PrecisionMode::Bf16Mixed || plan.precision == PrecisionMode::Bf16True);
    return bf16Norm
        || (plan.precision == PrecisionMode::Fp16True && plan.optimizer.kind != OptimizerKind::Sgd);
}

/// A case that records nothing would be repeated without being compared.
void requireRecords(const Trace& trace)
{
    if (!trace.steps.is_array() || trace.steps.empty())
        throw std::out_of_range("it records no steps, so there is nothing to compare");
    constexpr std::array kAlways = {"batches", "loss", "lr", "grad_norm64"};
    for (std::size_t step = 0; step < trace.steps.size(); ++step)
        for (const char* key : kAlways) {
            const auto found = trace.steps[step].find(key);
            if (found == trace.steps[step].end() || (found->is_array() && found->empty()))
                throw std::out_of_range("step " + std::to_string(step) + " records no " + key);
        }
    if (trace.parameters.empty())
        throw std::out_of_range("param_order names no parameters");
}

std::optional<Error> readText(const std::filesystem::path& file, std::string& text)
{
    std::error_code failure;
    const auto size = std::filesystem::file_size(file, failure);
    if (failure)
        return Error{ErrorCode::NotFound, "There is no trace: cannot read " + file.string() + ".",
                     "Name a folder that holds a case.json."};
    if (size > kMostBytes)
        return Error{ErrorCode::Damaged, file.string() + " is far too large for a trace.",
                     "Name the folder of a recorded case; its case.json is text of some megabytes."};
    text.resize(size);
    std::ifstream in(file, std::ios::binary);
    if (!in.read(text.data(), static_cast<std::streamsize>(size)))
        return Error{ErrorCode::Io, "Cannot read " + file.string() + ".", "Check that you may read it."};
    return std::nullopt;
}

} // namespace

double traceNumber(const nlohmann::json& value)
{
    if (value.is_number())
        return value.get<double>();
    if (value == "Infinity")
        return std::numeric_limits<double>::infinity();
    if (value == "-Infinity")
        return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

Result<Trace> readTrace(const std::filesystem::path& folder)
{
    const auto file = folder / "case.json";
    std::string text;
    if (auto error = readText(file, text))
        return *error;
    try {
        const Json json = Json::parse(text);
        if (json.at("format") != "golden-trace/1")
            return Error{ErrorCode::NotHere, "not run here: the trace format " + json.at("format").dump(),
                         "This version reads golden-trace/1."};
        Trace trace;
        trace.id = json.at("id");
        trace.distributed = json.value("kind", "single") == "dist";
        trace.plan = planOf(json, folder);
        refuseOddCounts(trace.plan);
        trace.grade = gradeOf(trace.plan);
        trace.chaotic = isChaotic(trace.plan);
        trace.finalFile = folder / json.at("files").at("final").get<std::string>();
        trace.parameters = json.at("param_order").get<std::vector<std::string>>();
        trace.steps = json.at("steps");
        requireRecords(trace);
        return trace;
    } catch (const Missing& missing) {
        return Error{ErrorCode::NotHere, std::string("not run here: ") + missing.what(),
                     "Choose a case that does without it."};
    } catch (const std::exception& error) { // What the JSON library and stoll throw about the file's content.
        return Error{ErrorCode::Damaged, file.string() + " is no trace: " + traceProblem(error) + ".",
                     "Copy the case again, or mend that place."};
    }
}

} // namespace mantissa
