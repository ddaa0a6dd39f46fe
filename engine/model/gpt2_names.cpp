#include "engine/model/gpt2_names.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mantissa {
namespace {

struct NamePair {
    std::string_view theirs;
    std::string_view ours;
    bool inputsFirst = false;
};

constexpr std::array kOutside = {
    NamePair{"wte.weight", "tok.weight"},      NamePair{"wpe.weight", "pos.weight"},
    NamePair{"ln_f.weight", "ln_f.weight"},    NamePair{"ln_f.bias", "ln_f.bias"},
    NamePair{"lm_head.weight", "head.weight"},
};
constexpr std::array kOfABlock = {
    NamePair{"ln_1.weight", "ln1.weight"},
    NamePair{"ln_1.bias", "ln1.bias"},
    NamePair{"attn.c_attn.weight", "qkv.weight", true},
    NamePair{"attn.c_attn.bias", "qkv.bias"},
    NamePair{"attn.c_proj.weight", "proj.weight", true},
    NamePair{"attn.c_proj.bias", "proj.bias"},
    NamePair{"ln_2.weight", "ln2.weight"},
    NamePair{"ln_2.bias", "ln2.bias"},
    NamePair{"mlp.c_fc.weight", "up.weight", true},
    NamePair{"mlp.c_fc.bias", "up.bias"},
    NamePair{"mlp.c_proj.weight", "down.weight", true},
    NamePair{"mlp.c_proj.bias", "down.bias"},
};

constexpr std::string_view kPrefix = "transformer.";
constexpr std::string_view kBlock = "h.";

std::string_view bare(std::string_view name)
{
    return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

template <typename Table>
const NamePair* find(const Table& table, std::string_view name)
{
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const NamePair& pair) { return pair.theirs == name; });
    return found == table.end() ? nullptr : &*found;
}

} // namespace

bool areGpt2Weights(const NamedTensors& tensors)
{
    return std::any_of(tensors.begin(), tensors.end(),
                       [](const auto& entry) { return bare(entry.first) == "wte.weight"; });
}

NamedTensors fromGpt2(const NamedTensors& tensors)
{
    NamedTensors ours;
    for (const auto& [theirs, tensor] : tensors) {
        std::string_view name = bare(theirs);
        std::string before;
        const NamePair* pair = find(kOutside, name);
        if (const auto dot = name.find('.', kBlock.size());
            !pair && name.starts_with(kBlock) && dot != std::string_view::npos) {
            before = "blocks." + std::string(name.substr(kBlock.size(), dot - kBlock.size())) + ".";
            pair = find(kOfABlock, name.substr(dot + 1));
        }
        if (pair)
            ours.emplace_back(before + std::string(pair->ours), pair->inputsFirst ? tensor.t() : tensor);
    }
    const at::Tensor head = tensorNamed(ours, "head.weight");
    if (!head.defined())
        ours.emplace_back("head.weight", tensorNamed(ours, "tok.weight"));
    return ours;
}

} // namespace mantissa
