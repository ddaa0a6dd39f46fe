#include "engine/recipe/known_keys.h"

#include "engine/core/listed.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/field.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/path.h"
#include "engine/recipe/training_classes.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace mantissa {

namespace {

struct OldKey {
    std::string_view key;
    std::string_view instead;
};

/// Arguments that the Trainer lost in 2.0 or later, with what does their work today.
constexpr std::array kOldTrainerKeys = {
    OldKey{"gpus", "It was removed in 2.0: write accelerator: gpu and devices."},
    OldKey{"tpu_cores", "It was removed in 2.0: write accelerator: tpu and devices."},
    OldKey{"num_processes", "It was removed in 2.0: write accelerator: cpu and devices."},
    OldKey{"ipus", "It was removed in 2.0."},
    OldKey{"auto_lr_find", "It was removed in 2.0: use the Tuner, or the LearningRateFinder callback."},
    OldKey{"auto_scale_batch_size", "It was removed in 2.0: use the Tuner, or the BatchSizeFinder callback."},
    OldKey{"auto_select_gpus", "It was removed in 2.0: write devices: auto."},
    OldKey{"track_grad_norm",
           "It was removed in 2.0: log the norm in on_before_optimizer_step. Mantissa always records it."},
    OldKey{"amp_backend", "It was removed in 2.0: precision says it all."},
    OldKey{"amp_level", "It was removed in 2.0: precision says it all."},
    OldKey{"resume_from_checkpoint", "It was removed in 2.0: give ckpt_path to fit."},
    OldKey{"replace_sampler_ddp", "It is called use_distributed_sampler since 2.0."},
    OldKey{"move_metrics_to_cpu", "It was removed in 2.0."},
    OldKey{"multiple_trainloader_mode", "It was removed in 2.0: give a CombinedLoader its mode."},
    OldKey{"weights_save_path", "It was removed: give dirpath to ModelCheckpoint."},
    OldKey{"checkpoint_callback", "It is called enable_checkpointing."},
    OldKey{"progress_bar_refresh_rate", "It was removed: give refresh_rate to TQDMProgressBar."},
    OldKey{"weights_summary", "It is called enable_model_summary."},
};

constexpr std::size_t kMostReports = 100; ///< A file of the wrong kind may have thousands.

const std::vector<std::string_view> kTopKeys = {"seed_everything", "trainer",      "model",    "data",
                                                "optimizer",       "lr_scheduler", "mantissa", "ckpt_path",
                                                "weights_only"};

/// The keys directly under a section, from the table of fields; of a class, if one is named, those that it
/// takes.
std::vector<std::string_view> keysUnder(std::string_view section, std::string_view className = {})
{
    std::vector<std::string_view> keys;
    for (const auto* field : allFields()) {
        if (!field->path.starts_with(section) || field->path.size() <= section.size()
            || field->path[section.size()] != '.' || (!className.empty() && !field->isTakenBy(className)))
            continue;
        const auto rest = field->path.substr(section.size() + 1);
        const auto key = rest.substr(0, rest.find_first_of(".["));
        if (std::find(keys.begin(), keys.end(), key) == keys.end())
            keys.push_back(key);
    }
    return keys;
}

/// Edits between two words; swapping neighbours is one.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    std::vector<std::size_t> older;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        older = before;
        before = row;
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] =
                std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], older[j - 2] + 1);
        }
    }
    return row[b.size()];
}

class KeyCheck {
public:
    void section(const Setup& setup, std::string_view path, std::vector<std::string_view> known,
                 bool passes(std::string_view, const Value&) = nullptr)
    {
        for (const auto& [key, value] : path.empty() ? setup.root().asMap() : setup.at(path).asMap()) {
            if (passes && passes(key, value))
                continue;
            if (m_found.size() < kMostReports && std::find(known.begin(), known.end(), key) == known.end())
                report(path, key, known);
        }
    }

    std::vector<UnknownKey> take() { return std::move(m_found); }

private:
    void report(std::string_view path, const std::string& key, const std::vector<std::string_view>& known)
    {
        const auto where = path.empty() ? std::string("the file") : std::string(path);
        m_found.push_back(
            {joinPath(path, key), "“" + key + "” is unknown in " + where + ".", hint(path, key, known)});
    }

    static std::string hint(std::string_view path, std::string_view key,
                            const std::vector<std::string_view>& known)
    {
        if (path == "trainer")
            for (const auto& old : kOldTrainerKeys)
                if (old.key == key)
                    return std::string(old.instead);
        if (const auto near = nearestName(key, known); !near.empty())
            return "Did you mean " + std::string(near) + "?";
        if (const auto* field = fieldAt("trainer." + std::string(key)); field && path.empty())
            return "It belongs under trainer: " + std::string(field->path) + ".";
        return known.size() < 30 ? "Known here: " + listed(known) + "." : "Remove it, or look up its name.";
    }

    std::vector<UnknownKey> m_found;
};

/// Arguments of classes that are known here: those of the one class.
void checkOwnClass(KeyCheck& check, const Setup& setup, const std::string& section)
{
    if (const auto known = argumentNames(setup, section)) {
        check.section(setup, section + ".init_args", *known, isHarmlessArgument);
        return;
    }
    const std::string classPath = setup.at(section + ".class_path").asString();
    if (!classPath.starts_with("mantissa."))
        return;
    check.section(setup, section, {"class_path", "init_args"});
    if (const auto known = keysUnder(section + ".init_args", shortClassName(classPath)); !known.empty())
        check.section(setup, section + ".init_args", known); // Else no such class, which is told as that.
}

} // namespace

std::string_view nearestName(std::string_view written, const std::vector<std::string_view>& known)
{
    std::string_view best;
    auto least = std::max<std::size_t>(1, written.size() / 4) + 1;
    for (const auto name : known)
        if (const auto edits = distance(written, name); edits < least) {
            least = edits;
            best = name;
        }
    return best;
}

std::vector<UnknownKey> unknownKeys(const Setup& setup)
{
    KeyCheck check;
    check.section(setup, {}, kTopKeys);
    auto trainer = keysUnder("trainer");
    trainer.emplace_back("suggest_integrations");
    check.section(setup, "trainer", std::move(trainer));
    auto own = keysUnder("mantissa");
    own.emplace_back("knobs");
    check.section(setup, "mantissa", std::move(own));
    check.section(setup, "mantissa.fabric", keysUnder("mantissa.fabric"));
    check.section(setup, "mantissa.scaler", keysUnder("mantissa.scaler"));
    check.section(setup, "mantissa.sharding", keysUnder("mantissa.sharding"));
    for (const auto* section : {"model", "data", "optimizer", "lr_scheduler"})
        checkOwnClass(check, setup, section);
    return check.take();
}

} // namespace mantissa
