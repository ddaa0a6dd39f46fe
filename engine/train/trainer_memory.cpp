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

/// Rounded to whole bytes.
std::uint64_t stateBytesPerElement(const std::vector<Turn>& turns)
{
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    for (const auto& turn : turns) {
        bytes += turn.optimizer->expectedStateBytes();
        for (const auto& parameter : turn.optimizer->parameters())
            elements += static_cast<std::uint64_t>(parameter.numel());
    }
    return elements > 0 ? (bytes + elements / 2) / elements : 0;
}

} // namespace

MemoryTerms Trainer::Impl::measuredMemory() const
{
    MemoryTerms terms = m_strategy->memory();
    for (const auto& turn : m_turns)
        terms.optimizer += turn.optimizer->stateBytes();
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
    question.stateBytes = stateBytesPerElement(m_turns);
    question.passes = m_plan.noSync ? static_cast<int>(accumulateAt(m_plan, 0)) : 1;
    question.rootAround = m_model->parameters().front().unit == m_model->unitCount() - 1;
    question.gradientViews = m_plan.ddp.gradientViews;
    return estimateMemory(question);
}

} // namespace mantissa
