#pragma once

class QLayout;
class QScrollArea;
class QWidget;

namespace mantissa::ui {

/// What scrolls a column of rows up and down: no frame, no sideways bar, no stop for the tab key.
QScrollArea* makeColumnScroll(QWidget* parent);

/// Takes every widget out of a layout. They go once the event that asked for it is through: it may come from
/// one of them.
void emptyLayout(QLayout& layout);

} // namespace mantissa::ui
