#include "engine/checkpoint/joined_parts.h"

#include "engine/tensor/guarded_torch.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace mantissa {
namespace {

/// None where it does not fit.
std::optional<std::int64_t> elementsOf(const std::vector<std::int64_t>& shape)
{
    std::int64_t elements = 1;
    for (const auto size : shape) {
        if (size != 0 && elements > std::numeric_limits<std::int64_t>::max() / size)
            return std::nullopt;
        elements *= size;
    }
    return elements;
}

Error misfit(const std::string& name, const char* why)
{
    return {ErrorCode::Damaged, "the parts of " + name + " " + why,
            "The checkpoint is damaged: use another one."};
}

Result<at::Tensor> joined(const std::string& name, const std::vector<at::Tensor>& pieces,
                          const std::vector<std::int64_t>& shape)
{
    std::int64_t elements = 0;
    for (const auto& piece : pieces) {
        if (piece.dim() != 1 || piece.scalar_type() != pieces.front().scalar_type())
            return misfit(name, "are not of one kind.");
        elements += piece.numel();
    }
    if (elementsOf(shape) != elements)
        return misfit(name, "are not as many elements as its shape has.");
    return at::cat(pieces).reshape(shape);
}

} // namespace

void JoinedParts::add(const std::string& name, at::Tensor tensor)
{
    const auto [entry, isNew] = m_index.emplace(name, m_pieces.size());
    if (isNew)
        m_pieces.emplace_back(name, std::vector<at::Tensor>());
    m_pieces[entry->second].second.push_back(std::move(tensor));
}

Result<NamedTensors> JoinedParts::whole() const
{
    return guardedTorch("putting the parts together", [&]() -> Result<NamedTensors> {
        NamedTensors tensors;
        for (const auto& [name, pieces] : m_pieces) {
            const auto shape = m_shapes.find(name);
            if (shape == m_shapes.end() && pieces.size() > 1)
                return misfit(name, "are several, and it was not cut.");
            if (shape == m_shapes.end()) {
                tensors.emplace_back(name, pieces.front());
                continue;
            }
            auto tensor = joined(name, pieces, shape->second);
            if (!tensor)
                return tensor.error();
            tensors.emplace_back(name, *std::move(tensor));
        }
        for (const auto& [name, shape] : m_shapes)
            if (!m_index.contains(name) && elementsOf(shape) != 0)
                return misfit(name, "are missing.");
        return tensors;
    });
}

} // namespace mantissa
