#include "engine/core/listed.h"
#include "engine/data/csv_reader.h"
#include "engine/data/data_set.h"
#include "engine/data/table_data_set.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

namespace mantissa {
namespace {

constexpr const char* kFileSetting = "data.init_args.file";

template <typename Number>
std::optional<Number> numberIn(const std::string& cell)
{
    Number value{};
    const auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != cell.data() + cell.size())
        return std::nullopt;
    return value;
}

std::string columnWords(const CsvTable& table, std::size_t column)
{
    return table.names.empty() ? "column " + std::to_string(column) : "column “" + table.names[column] + "”";
}

/// The column with the classes.
Result<std::size_t> targetColumn(const CsvTable& table, const CsvPlan& plan)
{
    const std::size_t columns = table.lines.front().size();
    if (plan.target.empty())
        return columns - 1;
    const auto named = std::find(table.names.begin(), table.names.end(), plan.target);
    if (named != table.names.end())
        return static_cast<std::size_t>(named - table.names.begin());
    if (const auto number = numberIn<std::size_t>(plan.target); number && *number < columns)
        return *number;
    return Error{ErrorCode::InvalidSetup, plan.file + " has no column " + plan.target + ".",
                 table.names.empty() ? "It has no names; set data.init_args.target to a number from 0 to "
                         + std::to_string(columns - 1) + "."
                                     : "Set data.init_args.target to one of " + listed(table.names) + "."};
}

/// Classes as they are where all are whole numbers from 0; else numbered in the order of their names.
std::vector<std::int64_t> classesIn(const CsvTable& table, std::size_t column)
{
    std::vector<std::int64_t> classes;
    std::set<std::string> names;
    for (const auto& line : table.lines) {
        names.insert(line[column]);
        const auto number = numberIn<std::int64_t>(line[column]);
        classes.push_back(number.value_or(-1));
    }
    if (std::all_of(classes.begin(), classes.end(), [](auto each) { return each >= 0; }))
        return classes;
    for (std::size_t i = 0; i < classes.size(); ++i)
        classes[i] = std::distance(names.begin(), names.find(table.lines[i][column]));
    return classes;
}

Result<std::vector<float>> numbersIn(const CsvTable& table, std::size_t target, const CsvPlan& plan)
{
    std::vector<float> numbers;
    for (std::size_t i = 0; i < table.lines.size(); ++i) {
        for (std::size_t column = 0; column < table.lines[i].size(); ++column) {
            if (column == target)
                continue;
            const auto& cell = table.lines[i][column];
            const auto number = numberIn<double>(cell);
            if (!number || !std::isfinite(*number))
                return Error{ErrorCode::Damaged,
                             plan.file + ":" + std::to_string(table.numbers[i]) + ": "
                                 + columnWords(table, column) + " has “" + cell + "”, which is no number.",
                             "Mend that cell or leave the column out; data.init_args.target names the one "
                             "with the classes."};
            numbers.push_back(static_cast<float>(*number));
        }
    }
    return numbers;
}

} // namespace

Result<std::shared_ptr<const DataSet>> openCsv(const CsvPlan& plan)
{
    const auto table = readCsv(plan.file, kFileSetting);
    if (!table)
        return table.error();
    if (table->lines.empty() || table->lines.front().size() < 2)
        return Error{ErrorCode::Damaged,
                     plan.file
                         + (table->lines.empty() ? " has names of columns and no line of numbers."
                                                 : " has one column, and a class needs numbers to it."),
                     "Check data.init_args.file."};
    const auto target = targetColumn(*table, plan);
    if (!target)
        return target.error();
    auto numbers = numbersIn(*table, *target, plan);
    if (!numbers)
        return numbers.error();
    LabelledRows rows;
    const auto length = static_cast<std::int64_t>(table->lines.front().size()) - 1;
    rows.rowShape = {length};
    rows.labels = classesIn(*table, *target);
    rows.classes = *std::max_element(rows.labels.begin(), rows.labels.end()) + 1;
    rows.fill = [numbers = *std::move(numbers), length](std::int64_t row, float* into) {
        std::copy_n(numbers.data() + row * length, length, into);
    };
    return makeLabelledRows(std::move(rows));
}

} // namespace mantissa
