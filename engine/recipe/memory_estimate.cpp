#include "engine/recipe/memory_estimate.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace mantissa {

namespace {

constexpr std::array<std::string_view, 4> kLeftOut = {"activations that the forward pass keeps for backward",
                                                      "buffers and batches",
                                                      "what LibTorch's kernels allocate while they run",
                                                      "copies for the record (the weights of the last step)"};

std::int64_t onCacheLine(std::int64_t elements)
{
    constexpr std::int64_t kElements = 16; // 64 bytes of fp32
    return (elements + kElements - 1) / kElements * kElements;
}

/// The most that `ahead` more units than the one in use need, besides a root that stays.
std::uint64_t mostAtOnce(const std::vector<std::uint64_t>& wholes, std::size_t ahead, std::uint64_t kept)
{
    std::uint64_t most = kept;
    for (std::size_t first = 0; first + 1 < wholes.size(); ++first) {
        std::uint64_t sum = kept;
        for (std::size_t i = first; i + 1 < wholes.size() && i <= first + ahead; ++i)
            sum += wholes[i];
        most = std::max(most, sum);
    }
    return std::max(most, wholes.back());
}

} // namespace

std::int64_t UnitSize::elements() const
{
    return std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
}

std::int64_t shardElements(std::span<const std::int64_t> weights, int shards)
{
    std::int64_t end = 0;
    for (const auto weight : weights)
        end += onCacheLine(weight);
    return onCacheLine((end + shards - 1) / shards);
}

std::vector<int> unitsOfBlocks(const std::vector<std::int64_t>& elements, const ShardPlan& shards)
{
    std::vector<int> units;
    int next = 0;
    for (std::size_t block = 0; block + 1 < elements.size(); ++block) {
        const bool own = shards.wrap == UnitWrap::Block
            || (shards.wrap == UnitWrap::Size && elements[block] >= shards.leastUnit);
        units.push_back(own ? next++ : -1);
    }
    units.push_back(-1);
    std::replace(units.begin(), units.end(), -1, next); // the root's
    return units;
}

std::vector<UnitSize> wrappedUnits(const std::vector<UnitSize>& blocks, const ShardPlan& shards)
{
    std::vector<std::int64_t> elements;
    for (const auto& block : blocks)
        elements.push_back(block.elements());
    const auto unitOf = unitsOfBlocks(elements, shards);
    std::vector<UnitSize> units(static_cast<std::size_t>(unitOf.back()) + 1);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        auto& unit = units[static_cast<std::size_t>(unitOf[i])];
        unit.name = blocks[i].name; // the root's name where it takes others in
        unit.weights.insert(unit.weights.end(), blocks[i].weights.begin(), blocks[i].weights.end());
    }
    return units;
}

bool keepsRoot(const std::vector<std::uint64_t>& wholes, std::uint64_t shards)
{
    const std::uint64_t root = wholes.back();
    const std::uint64_t other = wholes.size() > 1 ? *std::max_element(wholes.begin(), wholes.end() - 1) : 0;
    return shards + root + other <= (shards + std::max(root, other)) * 114 / 100;
}

namespace {

MemoryTerms estimateReplica(const MemoryQuestion& question)
{
    std::uint64_t elements = 0;
    for (const auto& unit : question.units)
        elements += static_cast<std::uint64_t>(unit.elements());
    MemoryTerms terms;
    terms.parameters = elements * question.storedBytes;
    terms.gradients = terms.parameters;
    terms.reduction = question.ranks > 1 && !question.gradientViews ? terms.parameters : 0;
    terms.optimizer = elements * question.stateBytes;
    return terms;
}

struct UnitBytes {
    std::uint64_t whole = 0; ///< Gathered.
    std::uint64_t flat = 0; ///< Its gradients on their way.
    std::uint64_t own = 0; ///< … and this rank's part of them.
    std::uint64_t sum = 0; ///< Of passes that are not reduced, in fp32.
};

std::uint64_t gatheredBytes(const MemoryQuestion& question, const std::vector<UnitBytes>& units,
                            std::uint64_t shards)
{
    std::vector<std::uint64_t> wholes;
    for (const auto& unit : units)
        wholes.push_back(unit.whole);
    const auto sharding = question.shards.sharding;
    if (sharding != Sharding::Full && sharding != Sharding::Hybrid)
        return std::accumulate(wholes.begin(), wholes.end(), std::uint64_t{0});
    const bool ahead = question.shards.ahead == GatherAhead::Pre || question.shards.forwardAhead;
    const std::size_t count = !ahead ? 0 : question.shards.limitAhead ? 1 : wholes.size();
    const bool kept = question.rootAround && keepsRoot(wholes, shards);
    return mostAtOnce(wholes, count, kept ? wholes.back() : 0);
}

/// Backward goes from the last unit to the first: sums grow in the first pass and go one by one in the last.
std::uint64_t reductionBytes(const std::vector<UnitBytes>& units, int passes)
{
    std::uint64_t most = 0;
    std::uint64_t sums = 0;
    std::uint64_t largest = 0;
    for (auto unit = units.rbegin(); unit != units.rend() && passes > 1; ++unit) {
        sums += unit->sum;
        largest = std::max(largest, unit->flat);
        most = std::max(most, sums + unit->flat);
    }
    if (passes > 2)
        most = std::max(most, sums + largest);
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
        most = std::max(most, sums + unit->flat + unit->own);
        sums -= passes > 1 ? unit->sum : 0;
    }
    return most;
}

int partsOf(const MemoryQuestion& question)
{
    if (question.strategy == StrategyKind::Zero1)
        return question.ranks;
    return question.shards.sharding == Sharding::None
        ? 1
        : question.ranks / std::max(1, question.shards.replicas);
}

MemoryTerms estimateShards(const MemoryQuestion& question)
{
    const int parts = partsOf(question);
    const bool inPlace = question.paramBytes == question.storedBytes
        && (question.strategy == StrategyKind::Zero1 || parts == 1);
    MemoryTerms terms;
    std::vector<UnitBytes> units;
    for (const auto& unit : wrappedUnits(question.units, question.shards)) {
        const auto own = static_cast<std::uint64_t>(shardElements(unit.weights, parts));
        const std::uint64_t whole = own * static_cast<std::uint64_t>(parts);
        terms.parameters += (inPlace ? whole : own) * question.storedBytes;
        terms.gradients += own * question.storedBytes;
        terms.optimizer += own * question.stateBytes;
        units.push_back({whole * question.paramBytes, whole * question.reduceBytes,
                         parts > 1 ? own * question.reduceBytes : 0, whole * sizeof(float)});
    }
    terms.gathered = inPlace ? 0 : gatheredBytes(question, units, terms.parameters);
    terms.reduction = reductionBytes(units, question.passes);
    return terms;
}

} // namespace

MemoryTerms estimateMemory(const MemoryQuestion& question)
{
    const bool replica = question.strategy == StrategyKind::Single || question.strategy == StrategyKind::Ddp;
    return replica ? estimateReplica(question) : estimateShards(question);
}

std::span<const std::string_view> memoryLeftOut()
{
    return kLeftOut;
}

namespace {

std::string mebibytes(std::uint64_t bytes)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", static_cast<double>(bytes) / (1024.0 * 1024.0));
    return text.data();
}

std::string termWords(std::string_view name, std::uint64_t measured, std::uint64_t estimated)
{
    return std::string(name) + " " + mebibytes(measured) + " (estimated " + mebibytes(estimated) + ")";
}

} // namespace

std::string memoryWords(const MemoryTerms& measured, const MemoryTerms& estimated)
{
    std::string text = "Memory at most " + mebibytes(measured.total()) + " MiB (estimated "
        + mebibytes(estimated.total()) + "), without activations: ";
    text += termWords("weights", measured.parameters, estimated.parameters) + ", ";
    text += termWords("gathered units", measured.gathered, estimated.gathered) + ", ";
    text += termWords("gradients", measured.gradients, estimated.gradients) + ", ";
    text += termWords("gradients on their way", measured.reduction, estimated.reduction) + ", ";
    text +=
        termWords("optimizer state", measured.optimizer, estimated.optimizer) + ", each in MiB. Not counted:";
    for (std::size_t i = 0; i < kLeftOut.size(); ++i)
        text += (i == 0 ? " " : "; ") + std::string(kLeftOut[i]);
    return text + ".";
}

} // namespace mantissa
