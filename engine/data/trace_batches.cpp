#include "engine/checkpoint/safetensors.h"
#include "engine/data/data_set.h"

namespace mantissa {
namespace {

/// Recorded batches: sample b × B + i is row i of batch b.
class TraceSet final : public DataSet {
public:
    TraceSet(at::Tensor input, at::Tensor target) : m_input(std::move(input)), m_target(std::move(target)) {}

    std::int64_t size() const override { return m_input.size(0); }
    bool shuffles() const override { return false; }

    Batch take(std::span<const std::int64_t> samples) const override
    {
        const at::Tensor index =
            at::tensor(at::ArrayRef<std::int64_t>(samples.data(), samples.size()), at::kLong);
        const at::Tensor rows = m_input.index_select(0, index);
        if (m_target.defined())
            return {rows, m_target.index_select(0, index)};
        return {rows.slice(1, 0, rows.size(1) - 1), rows.slice(1, 1)};
    }

    std::string describe() const override { return "recorded batches"; }

private:
    at::Tensor m_input; ///< Rows, or rows of tokens one longer than the context.
    at::Tensor m_target; ///< Undefined for tokens.
};

/// Batches stand stacked in one tensor `name`, or one by one as `name.<b>`.
at::Tensor stacked(const NamedTensors& tensors, const std::string& name)
{
    const at::Tensor whole = tensorNamed(tensors, name);
    if (whole.defined())
        return whole;
    std::vector<at::Tensor> parts;
    for (std::size_t b = 0;; ++b) {
        const at::Tensor part = tensorNamed(tensors, name + "." + std::to_string(b));
        if (!part.defined())
            break;
        parts.push_back(part);
    }
    return parts.empty() ? at::Tensor() : at::stack(parts);
}

} // namespace

Result<std::shared_ptr<const DataSet>> openTrace(const TracePlan& plan)
{
    const auto tensors = readSafetensors(plan.dataFile);
    if (!tensors)
        return tensors.error();
    const auto wrong = [&](const std::string& what) {
        return Error{ErrorCode::Damaged, plan.dataFile + ": " + what,
                     "A trace's data holds x and y, or tokens."};
    };
    const at::Tensor tokens = stacked(*tensors, "tokens");
    if (tokens.defined()) {
        if (tokens.dim() != 3 || tokens.scalar_type() != at::kLong)
            return wrong("tokens must be int64 of shape [batches, rows, context + 1].");
        return std::shared_ptr<const DataSet>(std::make_shared<TraceSet>(tokens.flatten(0, 1), at::Tensor()));
    }
    const at::Tensor x = stacked(*tensors, "x");
    const at::Tensor y = stacked(*tensors, "y");
    if (!x.defined() || !y.defined() || x.dim() < 3 || y.dim() != 2 || y.scalar_type() != at::kLong
        || x.size(0) != y.size(0) || x.size(1) != y.size(1))
        return wrong("it lacks x and y of the same batches and rows.");
    return std::shared_ptr<const DataSet>(std::make_shared<TraceSet>(x.flatten(0, 1), y.flatten(0, 1)));
}

} // namespace mantissa
