#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace mantissa {

struct MlpPlan {
    std::int64_t inputs = 784;
    std::int64_t hidden = 256;
    std::int64_t classes = 10;
    std::int64_t layers = 3; ///< Linear layers in all.
};

struct ConvNetPlan {
    std::int64_t channels1 = 8;
    std::int64_t channels2 = 16;
    std::int64_t imageSize = 28; ///< Images are square.
    std::int64_t classes = 10;
    bool batchNorm = false;
    std::int64_t inputChannels = 1;
};

/// Residual blocks in four stages, ResNet-18 with its usual numbers; a 3×3 stem, as for small images.
struct ResNetPlan {
    std::int64_t width = 64; ///< Channels of the first stage; each later one has twice those before.
    std::int64_t blocks = 2; ///< In each stage.
    std::int64_t imageSize = 32;
    std::int64_t classes = 10;
    std::int64_t inputChannels = 3;
};

enum class PositionKind { Learned, Rotary };
enum class ActivationKind { Gelu, GeluTanh, SwiGlu };
enum class NormKind { Layer, Rms };
/// Torch: uniform within 1/√inputs, embeddings of deviation 1. Gpt2: deviation 0.02, less on the way back
/// into the residual stream.
enum class InitKind { Torch, Gpt2 };

struct TransformerPlan {
    std::int64_t vocab = 256;
    std::int64_t context = 128;
    std::int64_t width = 128;
    std::int64_t heads = 4;
    std::int64_t layers = 2;
    double dropout = 0.0;
    bool tiedHead = false;
    bool explicitAttention = false; ///< Score matrix by hand instead of scaled_dot_product_attention.
    PositionKind positions = PositionKind::Learned;
    ActivationKind activation = ActivationKind::Gelu;
    NormKind norm = NormKind::Layer;
    InitKind init = InitKind::Torch;
};

/// What a model takes: rows of numbers, square images, or rows of tokens.
enum class InputKind { Vectors, Images, Tokens };

/// A network that somebody exported with TorchScript: one unit.
struct ScriptPlan {
    std::string file;
    InputKind input = InputKind::Vectors;
    std::int64_t inputs = 784; ///< Numbers, pixels of a side, or tokens in a row.
    std::int64_t classes = 10; ///< Or tokens that are told apart.
    std::int64_t inputChannels = 1;
};

/// Two networks of linear layers that train against each other: one makes samples out of noise, the other
/// tells them from those of the data.
struct GanPlan {
    std::int64_t inputs = 784;
    std::int64_t latent = 64; ///< Random numbers that a sample is made of.
    std::int64_t hidden = 256;
    std::int64_t layers = 3; ///< Of each network.
    std::int64_t discriminatorSteps = 1; ///< For one of the generator, each on a batch of its own.
};

using ModelPlan = std::variant<MlpPlan, ConvNetPlan, TransformerPlan, ResNetPlan, ScriptPlan, GanPlan>;

/// What any model takes and gives, in the same words for all of them.
struct ModelFace {
    InputKind input = InputKind::Vectors;
    std::int64_t inputs = 0; ///< Numbers, pixels of a side, or tokens in a row at most.
    std::int64_t channels = 1; ///< Of images.
    std::int64_t classes = 0; ///< Or tokens. 0: it does not look at them.

    bool takesClasses(std::int64_t given) const { return classes == 0 || given <= classes; }
};
ModelFace modelFace(const ModelPlan& plan);

} // namespace mantissa
