#include "engine/train/training_position.h"

#include <nlohmann/json.hpp>

namespace mantissa {
namespace {

using nlohmann::json;

/// Throws json::exception.
TrainingPosition parsed(const json& text)
{
    TrainingPosition position;
    position.step = text.at("step").get<std::int64_t>();
    position.epoch = text.at("epoch").get<std::int64_t>();
    position.batch = text.at("batch").get<std::int64_t>();
    position.globalBatch = text.at("global_batch").get<std::int64_t>();
    position.ranks = text.at("ranks").get<int>();
    position.seed = text.at("seed").get<std::uint64_t>();
    position.samples = text.at("data").at("samples").get<std::int64_t>();
    position.jointBatch = text.at("data").at("joint_batch").get<std::int64_t>();
    position.precision = text.at("precision").get<std::string>();
    position.strategy = text.at("strategy").get<std::string>();
    const json& optimizer = text.at("optimizer");
    position.optimizerClass = optimizer.at("class").get<std::string>();
    position.optimizerSteps = optimizer.at("steps").get<double>();
    const json state = {{"class", position.optimizerClass}, {"steps", position.optimizerSteps}};
    position.optimizerState = optimizer.value("state", state).dump(); // Earlier checkpoints had no more.
    for (const auto& further : optimizer.value("further", json::array()))
        position.furtherOptimizers.push_back(further.dump());
    position.optimizerSettings = optimizer.at("settings").dump();
    position.scheduleSettings = text.at("schedule").at("settings").dump();
    position.scheduleState = text.at("schedule").at("state").dump();
    position.scalerState = text.at("scaler").dump();
    position.callbacks = text.value("callbacks", json::object()).dump();
    return position;
}

} // namespace

std::string positionText(const TrainingPosition& position)
{
    auto text = json{
        {"step", position.step},
        {"epoch", position.epoch},
        {"batch", position.batch},
        {"global_batch", position.globalBatch},
        {"ranks", position.ranks},
        {"seed", position.seed},
        {"data", {{"samples", position.samples}, {"joint_batch", position.jointBatch}}},
        {"precision", position.precision},
        {"strategy", position.strategy},
        {"optimizer",
         {{"class", position.optimizerClass},
          {"steps", position.optimizerSteps},
          {"state", json::parse(position.optimizerState)},
          {"settings", json::parse(position.optimizerSettings)}}},
        {"schedule",
         {{"settings", json::parse(position.scheduleSettings)},
          {"state", json::parse(position.scheduleState)}}},
        {"scaler", json::parse(position.scalerState)},
        {"callbacks", json::parse(position.callbacks)},
    };
    for (const auto& further : position.furtherOptimizers)
        text["optimizer"]["further"].push_back(json::parse(further));
    return text.dump();
}

Result<TrainingPosition> readPosition(const std::string& text)
{
    const auto damaged = [](const std::string& why) {
        return Error{ErrorCode::Damaged, "The checkpoint's training.json is damaged: " + why,
                     "Use another checkpoint."};
    };
    try {
        const auto position = parsed(json::parse(text));
        const bool possible = position.step >= 0 && position.epoch >= 0 && position.batch >= 0
            && position.globalBatch >= 0 && position.ranks >= 1 && position.samples >= 1
            && position.jointBatch >= 1 && position.batch <= position.samples;
        if (!possible)
            return damaged("a number in it is out of its range.");
        return position;
    } catch (const json::exception& exception) {
        return damaged(exception.what());
    }
}

} // namespace mantissa
