#pragma once

#include "engine/rules/finding.h"
#include "engine/rules/target.h"

#include <vector>

namespace mantissa {

/// Works out what each fix of `subject` clears and raises, by applying it and checking again. Drops those
/// that do not help: that leave the finding as it is, or bring an error that was not there. Safe ones come
/// first; one that brings a trouble without an error comes last and says so. `before` are all findings of the
/// set-up.
void workOutFixes(Finding& subject, const std::vector<Finding>& before, const Setup& setup,
                  const Target& target);

} // namespace mantissa
