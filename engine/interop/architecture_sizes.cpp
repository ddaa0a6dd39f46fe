#include "engine/interop/architecture_sizes.h"

#include "engine/core/listed.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace mantissa {

namespace {

using nlohmann::json;

/// Weights of one block and of everything outside.
struct Sizes {
    std::string blockName; ///< Before the number.
    std::int64_t blocks = 0;
    std::int64_t block = 0;
    std::int64_t root = 0;
};

constexpr std::int64_t kMost = std::int64_t{1} << 20; // wide enough for any model, and no product overflows

std::int64_t number(const json& config, const char* key)
{
    const auto value = config.at(key).get<std::int64_t>();
    if (value < 1 || value > kMost)
        throw std::out_of_range(std::string(key) + " is " + std::to_string(value)
                                + ", which is no size of a model");
    return value;
}

std::int64_t numberOr(const json& config, const char* key, std::int64_t fallback)
{
    return config.contains(key) && !config.at(key).is_null() ? number(config, key) : fallback;
}

std::int64_t linear(std::int64_t inputs, std::int64_t outputs, bool bias = true)
{
    return inputs * outputs + (bias ? outputs : 0);
}

Sizes gpt2(const json& config)
{
    const auto d = number(config, "n_embd");
    const auto inner = numberOr(config, "n_inner", 4 * d);
    return {"h", number(config, "n_layer"),
            linear(d, 3 * d) + linear(d, d) + linear(d, inner) + linear(inner, d) + 4 * d,
            number(config, "vocab_size") * d + number(config, "n_positions") * d + 2 * d};
}

Sizes llama(const json& config)
{
    const auto d = number(config, "hidden_size");
    const auto heads = number(config, "num_attention_heads");
    const auto perHead = numberOr(config, "head_dim", d / heads);
    const auto query = heads * perHead;
    const auto keys = numberOr(config, "num_key_value_heads", heads) * perHead;
    const bool bias = config.value("attention_bias", config.at("model_type") == "qwen2");
    const bool outputBias = config.value("attention_bias", false);
    const auto attention = linear(d, query, bias) + 2 * linear(d, keys, bias) + linear(query, d, outputBias);
    const auto embedding = number(config, "vocab_size") * d;
    return {"model.layers", number(config, "num_hidden_layers"),
            attention + 3 * d * number(config, "intermediate_size") + 2 * d,
            embedding * (config.value("tie_word_embeddings", false) ? 1 : 2) + d};
}

Sizes bert(const json& config)
{
    const auto d = number(config, "hidden_size");
    const auto inner = number(config, "intermediate_size");
    const auto rows = number(config, "vocab_size") + number(config, "max_position_embeddings")
        + numberOr(config, "type_vocab_size", 2);
    return {"encoder.layer", number(config, "num_hidden_layers"),
            4 * linear(d, d) + linear(d, inner) + linear(inner, d) + 4 * d, rows * d + 2 * d + linear(d, d)};
}

struct Architecture {
    std::string_view type;
    Sizes (*sizes)(const json&);
};

constexpr std::array kArchitectures = {
    Architecture{"gpt2", gpt2},   Architecture{"llama", llama}, Architecture{"mistral", llama},
    Architecture{"qwen2", llama}, Architecture{"bert", bert},   Architecture{"roberta", bert},
};

std::uint64_t elementBytes(const json& config)
{
    const auto type = config.value("torch_dtype", config.value("dtype", std::string("float32")));
    return type == "float16" || type == "bfloat16" ? 2 : type == "float64" ? 8 : 4;
}

} // namespace

ModelSizes sumOfUnits(std::vector<ModelUnit> units, bool computed)
{
    ModelSizes sizes;
    sizes.computed = computed;
    for (const auto& unit : units) {
        sizes.elements += unit.elements;
        sizes.bytes += unit.bytes;
        sizes.largestUnit = std::max(sizes.largestUnit, unit.elements);
    }
    sizes.units = std::move(units);
    return sizes;
}

Result<ModelSizes> sizesOfArchitecture(const json& config, const std::string& file)
{
    const auto type = config.at("model_type").get<std::string>();
    const auto* found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                     [&](const auto& each) { return each.type == type; });
    if (found == kArchitectures.end()) {
        const auto known = listed(kArchitectures, [](const auto& each) { return each.type; });
        return Error{ErrorCode::NotHere,
                     file + " describes a " + type + ", whose weights are not known here.",
                     "Known are " + known + ". For any other model, name its safetensors file or index."};
    }
    const Sizes sizes = found->sizes(config);
    const auto bytes = elementBytes(config);
    std::vector<ModelUnit> units;
    for (std::int64_t block = 0; block < sizes.blocks; ++block)
        units.push_back({sizes.blockName + "." + std::to_string(block), sizes.block,
                         static_cast<std::uint64_t>(sizes.block) * bytes});
    units.push_back({"root", sizes.root, static_cast<std::uint64_t>(sizes.root) * bytes});
    return sumOfUnits(std::move(units), true);
}

} // namespace mantissa
