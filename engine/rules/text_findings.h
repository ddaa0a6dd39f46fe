#pragma once

#include "engine/recipe/setup_file.h"
#include "engine/rules/check.h"

namespace mantissa {

/// What is wrong with the text of a set-up, as findings: what the target's parser refuses, and what it reads
/// otherwise than its owner.
std::vector<Finding> textFindings(const SetupFile& file);

/// A file as a whole: what is wrong with its text, and all rules on what it says.
CheckReport checkFile(const SetupFile& file, const Target& target);

/// Where a finding stands in its file: at the setting most to blame that is written there, else at the
/// nearest enclosing one, else at the beginning.
SourcePoint placeOf(const Finding& finding, const SetupFile& file);

} // namespace mantissa
