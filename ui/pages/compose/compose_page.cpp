#include "ui/pages/compose/compose_page.h"

#include "ui/widgets/panels.h"

#include <QVBoxLayout>

namespace mantissa::ui {

ComposePage::ComposePage(const PageServices& services, QWidget* parent) : Page(parent), m_services(services)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(new PageHeader(this));
    column->addStretch(1);
}

} // namespace mantissa::ui
