#include "engine/train/validation.h"

#include "engine/comm/communicator.h"
#include "engine/model/model.h"
#include "engine/precision/precision.h"
#include "engine/strategy/strategy.h"

#include <array>

namespace mantissa {
namespace {

struct Sums {
    double loss = 0.0;
    double correct = 0.0;
    double answers = 0.0;
    double rows = 0.0;
};

void addBatch(Sums& sums, const ValidationParts& parts, const ValidationSet::Part& part)
{
    const at::Tensor input = parts.precision.convertInput(part.batch.input);
    at::Tensor logits;
    {
        const AutocastScope context = parts.precision.forwardContext();
        logits = parts.model.forward(input, parts.strategy, false);
    }
    parts.strategy.endOfStep(); // gives back what the forward pass has gathered
    const at::Tensor target = part.batch.target.reshape({-1});
    const std::int64_t counted = part.counted * (target.numel() / part.batch.input.size(0));
    const at::Tensor scores = logits.narrow(0, 0, counted).to(at::kFloat);
    const at::Tensor wanted = target.narrow(0, 0, counted);
    if (counted > 0)
        sums.loss += at::cross_entropy_loss(scores, wanted, {}, at::Reduction::None)
                         .to(at::kDouble)
                         .sum()
                         .item<double>();
    if (counted > 0)
        sums.correct += scores.argmax(1).eq(wanted).sum().item<double>();
    sums.answers += static_cast<double>(counted);
    sums.rows += static_cast<double>(part.counted);
}

} // namespace

ValidationResult validate(const ValidationParts& parts, std::int64_t batches)
{
    const at::NoGradGuard noGrad;
    Sums sums;
    for (std::int64_t batch = 0; batch < batches; ++batch)
        addBatch(sums, parts, parts.set.take(batch, parts.communicator.rank()));
    std::array<double, 4> all = {sums.loss, sums.correct, sums.answers, sums.rows};
    if (parts.communicator.size() > 1)
        parts.communicator.allReduce(all.data(), all.size(), WireType::F64, ReduceOp::Sum);
    return {all[0] / all[2], all[1] / all[2], static_cast<std::int64_t>(all[3])};
}

std::vector<SeriesSpec> validationSeries(const RunPlan& plan)
{
    if (!plan.validation.wanted())
        return {};
    std::vector<SeriesSpec> series = {{kValLoss, "1", -1, "val"}, {kValAccuracy, "1", -1, "val"}};
    if (modelFace(plan.model).input == InputKind::Tokens)
        series.push_back({kValPerplexity, "1", -1, "val"});
    return series;
}

} // namespace mantissa
