#include "engine/rules/consequences.h"

#include "engine/recipe/fields.h"
#include "engine/rules/check.h"

#include <algorithm>
#include <map>

namespace mantissa {
namespace {

/// How often each rule reports, errors apart from the rest: the same words may be an error on another target.
using Counts = std::map<std::pair<std::string, bool>, int>;

Counts countByRule(const std::vector<Finding>& findings)
{
    Counts counts;
    for (const Finding& finding : findings)
        ++counts[{finding.rule, isError(finding.severity)}];
    return counts;
}

/// Rules that report more often in `more` than in `less`.
std::vector<std::string> surplus(const Counts& more, const Counts& less)
{
    std::vector<std::string> rules;
    for (const auto& [key, count] : more) {
        const auto other = less.find(key);
        const bool already = !rules.empty() && rules.back() == key.first;
        if (!already && (other == less.end() || other->second < count))
            rules.push_back(key.first);
    }
    return rules;
}

bool contains(const std::vector<std::string>& rules, const std::string& rule)
{
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

/// What a fix brings with it, at its worst.
enum class Price { None, Silent, Error };

Price priceOf(const Fix& fix, const std::vector<Finding>& after)
{
    Price price = Price::None;
    for (const Finding& finding : after) {
        if (!contains(fix.raises, finding.rule))
            continue;
        if (isError(finding.severity))
            return Price::Error;
        if (finding.severity == Severity::Differs)
            price = Price::Silent;
    }
    return price;
}

std::string priceWords(const Fix& fix, const std::vector<Finding>& after)
{
    for (const Finding& finding : after) {
        if (finding.severity == Severity::Differs && contains(fix.raises, finding.rule))
            return "Starts, but at a price: " + finding.message;
    }
    return {};
}

struct Weighed {
    Fix fix;
    Price price = Price::None;
    bool helps = true;
};

Weighed weigh(Fix fix, const Finding& subject, const Counts& before, const Setup& setup, const Target& target)
{
    if (fix.edits.empty())
        return {std::move(fix), Price::None, true};
    const auto edited = applyEdits(setup, fix.edits);
    if (!edited)
        return {std::move(fix), Price::None, false};
    // An edit may change what the target is.
    const Value& written = (*edited)[field::target];
    const bool moved = !(written == setup[field::target]);
    const auto moveTo = moved ? targetFrom(written) : Result<Target>(target);
    if (!moveTo)
        return {std::move(fix), Price::None, false};
    const auto after = findings(*edited, *moveTo);
    const Counts counts = countByRule(after);
    fix.clears = surplus(before, counts);
    fix.raises = surplus(counts, before);
    const Price price = priceOf(fix, after);
    if (price == Price::Silent)
        fix.text += (fix.text.empty() ? "" : "\n") + priceWords(fix, after);
    const bool helps = contains(fix.clears, subject.rule) && price != Price::Error;
    return {std::move(fix), price, helps};
}

} // namespace

void workOutFixes(Finding& subject, const std::vector<Finding>& before, const Setup& setup,
                  const Target& target)
{
    const Counts counts = countByRule(before);
    std::vector<Weighed> weighed;
    for (Fix& fix : subject.fixes) {
        auto candidate = weigh(std::move(fix), subject, counts, setup, target);
        if (candidate.helps)
            weighed.push_back(std::move(candidate));
    }
    std::stable_sort(weighed.begin(), weighed.end(), [](const Weighed& left, const Weighed& right) {
        if (left.price != right.price)
            return left.price < right.price;
        return left.fix.grade < right.fix.grade;
    });
    subject.fixes.clear();
    for (Weighed& candidate : weighed)
        subject.fixes.push_back(std::move(candidate.fix));
}

} // namespace mantissa
