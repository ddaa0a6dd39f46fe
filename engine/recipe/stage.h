#pragma once

#include <array>
#include <string_view>

namespace mantissa {

/// The stages of a set-up's life, with the ids that findings, events and the diagram share.
enum class Stage {
    Configure,
    Setup,
    FitStart, // before the loop; shown on the verdict
    Data,
    ConvertInput,
    Forward,
    Loss,
    Scale,
    Backward,
    Reduce,
    Unscale,
    Clip,
    Optimizer,
    UpdateScale, // cards
    Record
};

struct StageName {
    Stage stage;
    std::string_view id; ///< "convert_input"
    std::string_view title; ///< "Convert input"
};

inline constexpr std::array kStages = {
    StageName{Stage::Configure, "configure", "Configure"},
    StageName{Stage::Setup, "setup", "Set-up"},
    StageName{Stage::FitStart, "fit_start", "Fit start"},
    StageName{Stage::Data, "data", "Data"},
    StageName{Stage::ConvertInput, "convert_input", "Convert input"},
    StageName{Stage::Forward, "forward", "Forward"},
    StageName{Stage::Loss, "loss", "Loss"},
    StageName{Stage::Scale, "scale", "Scale"},
    StageName{Stage::Backward, "backward", "Backward"},
    StageName{Stage::Reduce, "reduce", "Reduce"},
    StageName{Stage::Unscale, "unscale", "Unscale"},
    StageName{Stage::Clip, "clip", "Clip"},
    StageName{Stage::Optimizer, "optimizer", "Optimizer"},
    StageName{Stage::UpdateScale, "update_scale", "Update scale"},
    StageName{Stage::Record, "record", "Record"},
};

constexpr std::string_view stageId(Stage stage)
{
    return kStages[static_cast<std::size_t>(stage)].id;
}
constexpr std::string_view stageTitle(Stage stage)
{
    return kStages[static_cast<std::size_t>(stage)].title;
}

} // namespace mantissa
