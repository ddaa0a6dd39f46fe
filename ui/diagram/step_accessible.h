#pragma once

class QAccessibleInterface;
class QObject;
class QString;

namespace mantissa::ui {

/// Makes the diagram and its stages speak: a list of eleven items with names, places and focus.
/// For QAccessible::installFactory.
QAccessibleInterface* makeStepAccessible(const QString& className, QObject* object);

} // namespace mantissa::ui
