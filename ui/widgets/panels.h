#pragma once

#include "ui/theme/theme.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>

namespace mantissa::ui {

/// A plain surface: filled with one colour of the theme, with 1 px borders where asked.
class Surface : public QWidget {
    Q_OBJECT

public:
    explicit Surface(QColor Theme::*fill, Qt::Edges borders = {}, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QColor Theme::*m_fill;
    Qt::Edges m_borders;
};

/// The 48 px row on top of a page.
class PageHeader : public Surface {
    Q_OBJECT

public:
    explicit PageHeader(QWidget* parent = nullptr);

    QHBoxLayout& row() { return *m_row; }
    void addSeparator();

private:
    QHBoxLayout* m_row = nullptr;
};

/// The 1×20 line between two groups of controls.
class GroupSeparator : public QWidget {
    Q_OBJECT

public:
    explicit GroupSeparator(QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// A label in one colour of the theme, at one size; follows a change of theme.
class ThemedLabel : public QLabel {
    Q_OBJECT

public:
    ThemedLabel(const QString& text, const QFont& font, QColor Theme::*colour = &Theme::text,
                QWidget* parent = nullptr);
    void setColour(QColor Theme::*colour);

protected:
    void changeEvent(QEvent* event) override;

private:
    void recolour();

    QColor Theme::*m_colour;
};

/// The one way to show an error or a note: a bar on the page that asked.
class MessageBar : public Surface {
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);

    /// Shows what went wrong and what to do next.
    void showError(const Error& error);
    void showNote(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QLabel* m_text = nullptr;
    bool m_isError = true;
};

} // namespace mantissa::ui
