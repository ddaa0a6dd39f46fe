#include "engine/data/table_data_set.h"

#include "engine/core/counted.h"

namespace mantissa {
namespace {

class LabelledRowsSet final : public DataSet {
public:
    explicit LabelledRowsSet(LabelledRows rows) : m_rows(std::move(rows)) {}

    std::int64_t size() const override { return static_cast<std::int64_t>(m_rows.labels.size()); }

    Batch take(std::span<const std::int64_t> samples) const override
    {
        std::vector<std::int64_t> shape = {static_cast<std::int64_t>(samples.size())};
        shape.insert(shape.end(), m_rows.rowShape.begin(), m_rows.rowShape.end());
        Batch batch{at::empty(shape, at::kFloat), at::empty({shape[0]}, at::kLong)};
        float* input = batch.input.data_ptr<float>();
        auto* target = batch.target.data_ptr<std::int64_t>();
        for (const std::int64_t sample : samples) {
            m_rows.fill(sample, input);
            input += m_rows.rowLength;
            *target++ = m_rows.labels[static_cast<std::size_t>(sample)];
        }
        return batch;
    }

    std::string describe() const override
    {
        const bool images = m_rows.rowShape.size() == 3;
        const std::string side = std::to_string(m_rows.rowShape.back());
        const std::string what = images
            ? "images of " + std::to_string(m_rows.rowShape.front()) + "×" + side + "×" + side
            : "rows of " + counted(m_rows.rowShape.back(), "number");
        return what + ", " + counted(m_rows.classes, "class", "classes");
    }

private:
    LabelledRows m_rows;
};

class TokenRowsSet final : public DataSet {
public:
    explicit TokenRowsSet(TokenRows rows) : m_rows(std::move(rows)) {}

    std::int64_t size() const override { return m_rows.count; }

    Batch take(std::span<const std::int64_t> samples) const override
    {
        const at::Tensor tokens =
            at::empty({static_cast<std::int64_t>(samples.size()), m_rows.context + 1}, at::kLong);
        auto* into = tokens.data_ptr<std::int64_t>();
        for (const std::int64_t sample : samples) {
            m_rows.fill(sample, into);
            into += m_rows.context + 1;
        }
        return {tokens.slice(1, 0, m_rows.context), tokens.slice(1, 1)};
    }

    std::string describe() const override
    {
        return "rows of " + counted(m_rows.context, "token") + " below " + std::to_string(m_rows.vocab);
    }

private:
    TokenRows m_rows;
};

} // namespace

std::shared_ptr<const DataSet> makeLabelledRows(LabelledRows rows)
{
    rows.rowLength = 1;
    for (const std::int64_t size : rows.rowShape)
        rows.rowLength *= size;
    return std::make_shared<LabelledRowsSet>(std::move(rows));
}

std::shared_ptr<const DataSet> makeTokenRows(TokenRows rows)
{
    return std::make_shared<TokenRowsSet>(std::move(rows));
}

} // namespace mantissa
