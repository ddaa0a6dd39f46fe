#include "engine/data/data_set.h"
#include "engine/data/random.h"
#include "engine/model/layers.h"

#include <algorithm>
#include <numeric>

namespace mantissa {
namespace {

constexpr std::uint64_t kSplitStream = 5;

class Part final : public DataSet {
public:
    Part(std::shared_ptr<const DataSet> whole, std::vector<std::int64_t> samples)
        : m_whole(std::move(whole)), m_samples(std::move(samples))
    {
    }

    std::int64_t size() const override { return static_cast<std::int64_t>(m_samples.size()); }
    bool shuffles() const override { return m_whole->shuffles(); }
    std::string describe() const override { return m_whole->describe(); }
    Batch take(std::span<const std::int64_t> samples) const override
    {
        std::vector<std::int64_t> mapped;
        for (const std::int64_t sample : samples)
            mapped.push_back(m_samples[static_cast<std::size_t>(sample)]);
        return m_whole->take(mapped);
    }

private:
    std::shared_ptr<const DataSet> m_whole;
    std::vector<std::int64_t> m_samples;
};

} // namespace

DataSets splitData(std::shared_ptr<const DataSet> whole, double share, bool atEnd, std::uint64_t seed)
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(whole->size()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (!atEnd) {
        Random random(streamSeed(seed, kSplitStream, 0));
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1],
                      order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
    }
    const auto kept = static_cast<std::ptrdiff_t>(share * static_cast<double>(order.size()));
    std::vector<std::int64_t> validation(order.end() - kept, order.end());
    order.erase(order.end() - kept, order.end());
    std::sort(order.begin(), order.end());
    std::sort(validation.begin(), validation.end());
    return {std::make_shared<Part>(whole, std::move(order)),
            std::make_shared<Part>(whole, std::move(validation))};
}

} // namespace mantissa
