#pragma once

#include "engine/data/loader.h"
#include "engine/recipe/run_plan.h"
#include "engine/tensor/torch.h"
#include "engine/train/trainer.h"

#include <memory>
#include <utility>
#include <vector>

namespace mantissa {

/// See trainer.h. The trainers read it; only the loader inside it changes.
class PreparedRun {
public:
    PreparedRun(RunPlan runPlan, std::vector<at::Tensor> initial,
                std::vector<std::pair<std::string, at::Tensor>> initialBuffers,
                std::unique_ptr<Loader> batches)
        : plan(std::move(runPlan)),
          weights(std::move(initial)),
          buffers(std::move(initialBuffers)),
          loader(std::move(batches))
    {
    }

    const RunPlan plan;
    const std::vector<at::Tensor> weights; ///< In param order, fp32.
    const std::vector<std::pair<std::string, at::Tensor>>
        buffers; ///< From the file with the weights; empty where they are drawn.
    const std::unique_ptr<Loader> loader;
};

/// Micro batches in a window of an epoch: the entry with the largest key that is not above it, else 1.
std::int64_t accumulateAt(const RunPlan& plan, std::int64_t epoch);

} // namespace mantissa
