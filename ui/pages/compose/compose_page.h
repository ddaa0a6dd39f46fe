#pragma once

#include "ui/pages/page.h"

namespace mantissa::ui {

/// Compose a set-up by hand and eye: palette, step diagram, findings, inspector.
class ComposePage : public Page {
    Q_OBJECT

public:
    explicit ComposePage(const PageServices& services, QWidget* parent = nullptr);

private:
    PageServices m_services;
};

} // namespace mantissa::ui
