#include "engine/data/csv_reader.h"

#include "engine/data/file_bytes.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mantissa {
namespace {

/// Takes the cell that has come to its end, without the spaces behind it.
std::string taken(std::string& cell)
{
    while (!cell.empty() && cell.back() == ' ')
        cell.pop_back();
    return std::exchange(cell, {});
}

/// Cuts one line into cells. False where a quote stays open.
bool cutLine(std::string_view line, char separator, std::vector<std::string>& cells)
{
    std::string cell;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            cell += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == separator && !quoted) {
            cells.push_back(taken(cell));
        } else if (quoted || (c != ' ' || !cell.empty())) {
            cell += c;
        }
    }
    cells.push_back(taken(cell));
    return !quoted;
}

char separatorOf(std::string_view line)
{
    char best = ',';
    for (const char each : {';', '\t'}) {
        if (std::count(line.begin(), line.end(), each) > std::count(line.begin(), line.end(), best))
            best = each;
    }
    return best;
}

bool isNumber(const std::string& cell)
{
    double value = 0.0;
    const auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return parsed.ec == std::errc{} && parsed.ptr == cell.data() + cell.size();
}

std::string_view takeLine(std::string_view& text)
{
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    return line;
}

} // namespace

Result<CsvTable> readCsv(const std::filesystem::path& file, const std::string& setting)
{
    const auto content = readDataFile(file, setting);
    if (!content)
        return content.error();
    std::string_view text = *content;
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    CsvTable table;
    char separator = ',';
    for (std::int64_t number = 1; !text.empty(); ++number) {
        const auto line = takeLine(text);
        if (line.empty())
            continue;
        const auto wrong = [&](const std::string& what) {
            return Error{ErrorCode::Damaged, file.string() + ":" + std::to_string(number) + ": " + what,
                         "Mend that line, or export the table again."};
        };
        if (table.lines.empty())
            separator = separatorOf(line);
        std::vector<std::string> cells;
        if (!cutLine(line, separator, cells))
            return wrong("a quote is not closed.");
        if (!table.lines.empty() && cells.size() != table.lines.front().size())
            return wrong("the line has " + std::to_string(cells.size()) + " cells, and the first has "
                         + std::to_string(table.lines.front().size()) + ".");
        table.lines.push_back(std::move(cells));
        table.numbers.push_back(number);
    }
    if (table.lines.empty())
        return Error{ErrorCode::Damaged, file.string() + " is empty.", "Check " + setting + "."};
    // All but the classes are numbers, so a line with hardly any is the one with the names.
    const auto numbers = std::count_if(table.lines.front().begin(), table.lines.front().end(), isNumber);
    if (numbers == 0) {
        table.names = std::move(table.lines.front());
        table.lines.erase(table.lines.begin());
        table.numbers.erase(table.numbers.begin());
    }
    return table;
}

} // namespace mantissa
