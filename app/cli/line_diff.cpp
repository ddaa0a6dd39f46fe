#include "app/cli/line_diff.h"

#include <algorithm>
#include <vector>

namespace mantissa::cli {
namespace {

constexpr std::size_t kContext = 3;
/// Above this the middle is shown as replaced whole: a table of all pairs would be too large.
constexpr std::size_t kMostPairs = 4'000'000;

using Lines = std::vector<std::string_view>;

/// Lines with their ends, so that a missing one at the end of a file is a difference.
Lines splitLines(std::string_view text)
{
    Lines lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto length = end == std::string_view::npos ? text.size() : end + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

/// A line of the diff: ' ' in both, '-' in the old text, '+' in the new one.
struct Entry {
    char sign = ' ';
    std::string_view line;
};

/// The longest common subsequence by the usual table, read from the front.
void diffMiddle(const Lines& before, const Lines& after, std::vector<Entry>& entries)
{
    const std::size_t rows = before.size();
    const std::size_t columns = after.size();
    const bool tooLarge = rows != 0 && columns > kMostPairs / rows;
    std::vector<std::size_t> common(tooLarge ? 0 : (rows + 1) * (columns + 1), 0);
    const auto at = [&](std::size_t row, std::size_t column) -> std::size_t& {
        return common[row * (columns + 1) + column];
    };
    for (std::size_t row = tooLarge ? 0 : rows; row-- > 0;) {
        for (std::size_t column = columns; column-- > 0;)
            at(row, column) = before[row] == after[column]
                ? at(row + 1, column + 1) + 1
                : std::max(at(row + 1, column), at(row, column + 1));
    }
    std::size_t row = 0;
    std::size_t column = 0;
    while (!tooLarge && row < rows && column < columns) {
        if (before[row] == after[column]) {
            entries.push_back({' ', before[row++]});
            ++column;
        } else if (at(row + 1, column) >= at(row, column + 1)) {
            entries.push_back({'-', before[row++]});
        } else {
            entries.push_back({'+', after[column++]});
        }
    }
    while (row < rows)
        entries.push_back({'-', before[row++]});
    while (column < columns)
        entries.push_back({'+', after[column++]});
}

std::vector<Entry> diffLines(const Lines& before, const Lines& after)
{
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t head = 0;
    while (head < shorter && before[head] == after[head])
        ++head;
    std::size_t tail = 0;
    while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
        ++tail;
    const auto middle = [&](const Lines& lines) {
        return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                     lines.end() - static_cast<std::ptrdiff_t>(tail));
    };
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < head; ++i)
        entries.push_back({' ', before[i]});
    diffMiddle(middle(before), middle(after), entries);
    for (std::size_t i = before.size() - tail; i < before.size(); ++i)
        entries.push_back({' ', before[i]});
    return entries;
}

void appendEntry(std::string& text, const Entry& entry)
{
    text += entry.sign;
    text += entry.line;
    if (!entry.line.ends_with('\n'))
        text += "\n\\ No newline at end of file\n";
}

/// The end of the hunk that begins at a change: where more lines in a row are equal than two contexts hold.
std::size_t hunkEnd(const std::vector<Entry>& entries, std::size_t from)
{
    std::size_t lastChange = from;
    for (std::size_t i = from; i < entries.size() && i <= lastChange + 2 * kContext; ++i) {
        if (entries[i].sign != ' ')
            lastChange = i;
    }
    return std::min(entries.size(), lastChange + kContext + 1);
}

struct Place {
    std::size_t before = 0;
    std::size_t after = 0;
    void pass(const Entry& entry)
    {
        before += entry.sign != '+' ? 1 : 0;
        after += entry.sign != '-' ? 1 : 0;
    }
};

std::string rangeText(std::size_t passed, std::size_t count)
{
    return std::to_string(count == 0 ? passed : passed + 1) + "," + std::to_string(count);
}

} // namespace

std::string lineDiff(std::string_view before, std::string_view after, const std::string& name)
{
    const auto entries = diffLines(splitLines(before), splitLines(after));
    std::string text;
    Place place;
    std::size_t next = 0;
    while (true) {
        std::size_t change = next;
        while (change < entries.size() && entries[change].sign == ' ')
            ++change;
        if (change == entries.size())
            break;
        const std::size_t begin = std::max(next, change - std::min(change, kContext));
        const std::size_t end = hunkEnd(entries, change);
        for (; next < begin; ++next)
            place.pass(entries[next]);
        Place past = place;
        for (std::size_t i = begin; i < end; ++i)
            past.pass(entries[i]);
        text += "@@ -" + rangeText(place.before, past.before - place.before) + " +"
            + rangeText(place.after, past.after - place.after) + " @@\n";
        for (; next < end; ++next)
            appendEntry(text, entries[next]);
        place = past;
    }
    return text.empty() ? text : "--- " + name + "\n+++ " + name + "\n" + text;
}

} // namespace mantissa::cli
