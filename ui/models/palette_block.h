#pragma once

#include "engine/recipe/setup.h"
#include "engine/rules/target.h"

#include <string>
#include <vector>

namespace mantissa::ui {

/// One thing that can be put into a set-up by a click: a value of a setting, with the edits that make it so.
struct PaletteBlock {
    std::string name; ///< "16-mixed"
    std::string dtype; ///< Of the square before it; empty: none.
    std::vector<Edit> edits;
    std::vector<Edit> removal; ///< Edits that take it out again; empty: it can only be replaced.
};

struct PaletteGroup {
    std::string title; ///< "Precision"
    std::vector<PaletteBlock> blocks;
};

/// What a block would mean for a set-up.
struct BlockVerdict {
    enum class Sign {
        None,
        Refused, ///< ⊘: the target refuses it.
        CheckedOnly ///< ◇: this engine cannot train it.
    };
    bool on = false; ///< The set-up has it already.
    Sign sign = Sign::None;
    std::string title; ///< "64-true is refused by the target"
    std::string why;
    std::string source;
    std::vector<Edit> wayOut; ///< Edits that put the block in and make it possible; empty: none known.
    std::string wayOutTitle;
};

/// All blocks, by group; the choices come from the table of fields.
std::vector<PaletteGroup> paletteGroups(const Setup& setup);

BlockVerdict judgeBlock(const PaletteBlock& block, const Setup& setup, const Target& target);

} // namespace mantissa::ui
