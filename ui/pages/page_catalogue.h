#pragma once

#include "ui/pages/page.h"

#include <memory>
#include <span>

namespace mantissa::ui {

/// One line of the rail. A new page is one line here and one in CMakeLists.txt.
struct PageEntry {
    const char* id;
    const char* title;
    const char* icon;
    bool atTheEnd; ///< At the lower end of the rail.
    std::unique_ptr<Page> (*make)(const PageServices&);
};

/// The pages in the order of the rail; the n-th is reached with Ctrl+n.
std::span<const PageEntry> pageCatalogue();

} // namespace mantissa::ui
