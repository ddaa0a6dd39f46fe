#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace mantissa {

struct FashionMnistPlan {
    std::string folder; ///< Where the four IDX files are; empty: Debian's dataset-fashion-mnist.
    bool flat = true; ///< Rows of 784 for an MLP; else 1×28×28 images.
};

struct TextPlan {
    std::string file; ///< Any file; each byte is a token.
    std::int64_t context = 128;
};

struct SyntheticPlan {
    std::string shape = "vectors"; ///< vectors | images | tokens: what the model takes.
    std::int64_t inputs = 64;
    std::int64_t classes = 10;
    std::int64_t samples = 4096;
    std::int64_t channels = 1; ///< Of images.
};

/// Recorded batches: tensors `x.<b>`/`y.<b>` or `tokens.<b>` of a safetensors file (a trace's data).
struct TracePlan {
    std::string dataFile;
    std::string initFile; ///< Initial weights, by parameter name; empty: drawn from the seed.
    std::int64_t batchesPerEpoch = 0; ///< 0: all.
};

/// CIFAR-10 or CIFAR-100 in its binary version.
struct CifarPlan {
    std::string folder; ///< Holds data_batch_1.bin … and test_batch.bin, or train.bin and test.bin.
    bool hundred = false;
    bool flat = false; ///< Rows of 3072 for an MLP; else 3×32×32 images.
};

/// Two arrays of NumPy: samples, and their classes.
struct NpyPlan {
    std::string inputs;
    std::string targets;
    bool flat = true; ///< Images as rows of numbers, for an MLP.
};

/// A table of numbers, a sample a line, with one column that says its class.
struct CsvPlan {
    std::string file;
    std::string target; ///< Name of that column, or its number from 0; empty: the last one.
};

/// Every file of a folder that ends so, one after the other in the order of names; no row crosses a file's
/// end.
struct TextFolderPlan {
    std::string folder;
    std::string suffix = ".txt";
    std::int64_t context = 128;
};

using DataPlan = std::variant<FashionMnistPlan, TextPlan, SyntheticPlan, TracePlan, CifarPlan, NpyPlan,
                              CsvPlan, TextFolderPlan>;

/// What is kept back from training to measure on, and when it is measured. The words are the Trainer's.
struct ValidationPlan {
    double split = 0.0; ///< Share of the samples that are kept back; 0: none.
    bool testSet = false; ///< The data's own test samples instead.
    std::int64_t everyBatches = 0; ///< Between two validations; 0: see intervalShare.
    double intervalShare = 1.0; ///< … as a share of an epoch.
    std::int64_t everyEpochs = 1; ///< Only in each such epoch; 0: batches count across epochs.
    std::int64_t limitBatches = -1; ///< -1: see limitShare.
    double limitShare = 1.0;
    std::int64_t sanityBatches = 2; ///< Tried before training; -1: all.

    bool wanted() const
    {
        return (split > 0.0 || testSet) && limitBatches != 0 && (limitBatches > 0 || limitShare > 0.0);
    }
};

} // namespace mantissa
