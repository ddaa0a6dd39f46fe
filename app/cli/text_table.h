#pragma once

#include <string>
#include <vector>

namespace mantissa::cli {

/// A number for people: six digits. "NaN", "Infinity" and "-Infinity" are written out.
std::string shortNumber(double value);

/// Columns of a table on a terminal. A first row is the heading; widths count code points.
class TextTable {
public:
    explicit TextTable(std::vector<std::string> heading) { m_rows.push_back(std::move(heading)); }
    void add(std::vector<std::string> row); ///< Cells are made printable.
    void print() const;

private:
    std::vector<std::vector<std::string>> m_rows;
};

} // namespace mantissa::cli
