#pragma once

#include "ui/document/setup_document.h"

namespace mantissa::ui {

/// Keeps the text that is not saved in the program's settings, until it is taken.
void keepDraft(const UnsavedDraft& draft);
std::optional<UnsavedDraft> keptDraft();
void forgetDraft();

} // namespace mantissa::ui
