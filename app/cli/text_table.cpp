#include "app/cli/text_table.h"

#include "app/cli/printable.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace mantissa::cli {
namespace {

std::size_t width(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

} // namespace

std::string shortNumber(double value)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0.0 ? "Infinity" : "-Infinity";
    std::array<char, 32> text = {};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

void TextTable::add(std::vector<std::string> row)
{
    for (auto& cell : row)
        cell = printable(cell);
    m_rows.push_back(std::move(row));
}

void TextTable::print() const
{
    std::vector<std::size_t> widths;
    for (const auto& row : m_rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width(row[i]));
    }
    for (const auto& row : m_rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size())
                line += std::string(widths[i] - width(row[i]) + 2, ' ');
        }
        std::puts(line.c_str());
    }
}

} // namespace mantissa::cli
