#include "ui/pages/page_catalogue.h"

#include "ui/pages/compose/compose_page.h"
#include "ui/pages/history/history_page.h"
#include "ui/pages/knowledge/knowledge_page.h"
#include "ui/pages/run/run_page.h"
#include "ui/pages/settings/settings_page.h"

#include <QCoreApplication>

#include <array>

namespace mantissa::ui {
namespace {

template <typename PageType>
std::unique_ptr<Page> make(const PageServices& services)
{
    return std::make_unique<PageType>(services);
}

constexpr std::array kPages = {
    PageEntry{"compose", QT_TRANSLATE_NOOP("Pages", "Compose"), "compose", false, make<ComposePage>},
    PageEntry{"run", QT_TRANSLATE_NOOP("Pages", "Run"), "run", false, make<RunPage>},
    PageEntry{"history", QT_TRANSLATE_NOOP("Pages", "History"), "history", false, make<HistoryPage>},
    PageEntry{"knowledge", QT_TRANSLATE_NOOP("Pages", "Knowledge"), "knowledge", false, make<KnowledgePage>},
    PageEntry{"settings", QT_TRANSLATE_NOOP("Pages", "Settings"), "settings", true, make<SettingsPage>},
};

} // namespace

std::span<const PageEntry> pageCatalogue()
{
    return kPages;
}

} // namespace mantissa::ui
