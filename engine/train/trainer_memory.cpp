#include "engine/train/trainer_impl.h"

namespace mantissa {
namespace {

std::vector<UnitSize> blocksOf(const Model& model)
{
    std::vector<UnitSize> blocks;
    for (int unit = 0; unit < model.unitCount(); ++unit)
        blocks.push_back({model.unitName(unit), {}});
    for (const auto& spec : model.parameters())
        blocks[static_cast<std::size_t>(spec.unit)].weights.push_back(c10::multiply_integers(spec.shape));
    return blocks;
}

} // namespace

MemoryTerms Trainer::Impl::measuredMemory() const
{
    MemoryTerms terms = m_strategy->memory();
    for (const auto& [name, tensors] : m_optimizer->state()) {
        for (const auto& tensor : tensors)
            terms.optimizer += tensor.defined() ? tensor.nbytes() : 0;
    }
    return terms;
}

MemoryTerms Trainer::Impl::estimatedMemory() const
{
    const auto& dtypes = m_precision->dtypes();
    MemoryQuestion question;
    question.units = blocksOf(*m_model);
    question.strategy = m_plan.strategy;
    question.shards = m_plan.shards;
    question.ranks = m_communicator.size();
    question.storedBytes = at::elementSize(dtypes.stored);
    question.paramBytes = at::elementSize(dtypes.param);
    question.reduceBytes = at::elementSize(dtypes.reduce);
    question.stateBytes = m_optimizer->stateNames().size() * question.storedBytes;
    question.passes = m_plan.noSync ? static_cast<int>(accumulateAt(m_plan, 0)) : 1;
    question.rootAround = m_model->parameters().front().unit == m_model->unitCount() - 1;
    question.gradientViews = m_plan.ddp.gradientViews;
    return estimateMemory(question);
}

} // namespace mantissa
