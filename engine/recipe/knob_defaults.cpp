#include "engine/recipe/knob_defaults.h"

namespace mantissa {

Knobs withKnobDefaults(Knobs knobs)
{
    const auto add = [&](const char* name, Value value) { knobs.try_emplace(name, std::move(value)); };
    add("module.logs_train", ValueList{Value("train_loss")});
    add("module.logs_val", ValueList{Value("val_loss")});
    add("module.fields", ValueMap{});
    add("module.hparams", ValueMap{});
    add("module.has_backbone", false);
    add("data.source", "argument");
    add("data.length", 8);
    add("data.batch_size", 2);
    return knobs;
}

} // namespace mantissa
