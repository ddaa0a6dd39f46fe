#include "engine/history/histogram_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace mantissa {

namespace {

static_assert(std::endian::native == std::endian::little, "BLOBs hold little-endian numbers");

std::vector<std::int64_t> packed(const ExponentHistogram& histogram)
{
    const auto& counts = histogram.counts;
    const auto filled = [](std::uint64_t count) { return count > 0; };
    const auto first = std::find_if(counts.begin(), counts.end(), filled);
    const auto last = std::find_if(counts.rbegin(), counts.rend(), filled).base();
    std::vector<std::int64_t> numbers;
    if (first == counts.end())
        return numbers;
    numbers.push_back(ExponentHistogram::kLowest + (first - counts.begin()));
    numbers.insert(numbers.end(), first, last);
    return numbers;
}

/// What does not fit is left out: a file may hold anything.
void unpack(const void* bytes, std::size_t size, ExponentHistogram& histogram)
{
    std::vector<std::int64_t> numbers(size / sizeof(std::int64_t));
    if (numbers.empty())
        return;
    std::memcpy(numbers.data(), bytes, numbers.size() * sizeof(std::int64_t));
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        const std::int64_t exponent = numbers[0] + static_cast<std::int64_t>(i) - 1;
        if (exponent >= ExponentHistogram::kLowest && exponent <= ExponentHistogram::kHighest)
            histogram.counts[static_cast<std::size_t>(exponent - ExponentHistogram::kLowest)] =
                static_cast<std::uint64_t>(numbers[i]);
    }
}

} // namespace

void writeHistograms(SQLite::Database& database, const std::vector<TensorHistogram>& histograms)
{
    if (histograms.empty())
        return;
    SQLite::Statement insert(database, "INSERT OR REPLACE INTO histogram VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    for (const auto& one : histograms) {
        const auto counts = packed(one.exponents);
        insert.tryReset();
        insert.bind(1, one.step);
        insert.bind(2, one.tensor);
        insert.bind(3, one.quantity);
        // Without a number there is no address either, and SQLite would take that for NULL.
        insert.bind(4, counts.empty() ? static_cast<const void*>("") : counts.data(),
                    static_cast<int>(counts.size() * sizeof(std::int64_t)));
        int place = 5;
        for (const auto count :
             {one.exponents.below, one.exponents.above, one.exponents.zeros, one.exponents.nonfinite})
            insert.bind(place++, static_cast<std::int64_t>(count));
        insert.exec();
    }
}

std::vector<TensorHistogram> readHistograms(SQLite::Database& database, std::int64_t firstStep,
                                            std::int64_t lastStep)
{
    SQLite::Statement rows(
        database,
        "SELECT step, tensor, quantity, counts, below, above, zeros, nonfinite FROM histogram "
        "WHERE step BETWEEN ? AND ? ORDER BY step, tensor, quantity");
    rows.bind(1, firstStep);
    rows.bind(2, lastStep);
    std::vector<TensorHistogram> found;
    while (rows.executeStep()) {
        TensorHistogram one;
        one.step = rows.getColumn(0).getInt64();
        one.tensor = rows.getColumn(1).getString();
        one.quantity = rows.getColumn(2).getString();
        const auto counts = rows.getColumn(3);
        unpack(counts.getBlob(), static_cast<std::size_t>(counts.getBytes()), one.exponents);
        one.exponents.below = static_cast<std::uint64_t>(rows.getColumn(4).getInt64());
        one.exponents.above = static_cast<std::uint64_t>(rows.getColumn(5).getInt64());
        one.exponents.zeros = static_cast<std::uint64_t>(rows.getColumn(6).getInt64());
        one.exponents.nonfinite = static_cast<std::uint64_t>(rows.getColumn(7).getInt64());
        found.push_back(std::move(one));
    }
    return found;
}

} // namespace mantissa
