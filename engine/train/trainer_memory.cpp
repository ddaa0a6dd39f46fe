#include "engine/recipe/memory_forecast.h"
#include "engine/train/trainer_impl.h"

namespace mantissa {
namespace {

std::vector<UnitSize> blocksOf(const Model& model)
{
    std::vector<UnitSize> blocks;
    for (int unit = 0; unit < model.unitCount(); ++unit)
        blocks.push_back({model.unitName(unit), {}});
    for (const auto& spec : model.parameters())
        blocks[static_cast<std::size_t>(spec.unit)].weights.push_back(spec.elements());
    return blocks;
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
    MemoryQuestion question = memoryQuestion(m_plan, blocksOf(*m_model));
    question.rootAround = m_model->parameters().front().unit == m_model->unitCount() - 1;
    return estimateMemory(question);
}

} // namespace mantissa
