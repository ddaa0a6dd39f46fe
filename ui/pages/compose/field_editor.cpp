#include "ui/pages/compose/field_editor.h"

#include "engine/recipe/flow_value.h"
#include "engine/recipe/path.h"
#include "engine/recipe/training_classes.h"
#include "ui/text/convert.h"
#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/severity.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <algorithm>

namespace mantissa::ui {
namespace {

/// Does not change its value when the form is scrolled over it.
class CalmCombo : public QComboBox {
public:
    using QComboBox::QComboBox;

protected:
    void wheelEvent(QWheelEvent* event) override { event->ignore(); }
};

Result<void> fitsType(const Field& field, const Value& value)
{
    const auto wrong = [&](const QString& wanted) {
        return Error{ErrorCode::InvalidSetup,
                     FieldEditor::tr("%1 takes %2.").arg(toQt(field.label), wanted).toStdString(),
                     {}};
    };
    if (value.isNull())
        return {};
    switch (field.type) {
    case FieldType::Bool:
        return value.isBool() ? Result<void>() : wrong(FieldEditor::tr("true or false"));
    case FieldType::Integer:
        return value.isInteger() ? Result<void>() : wrong(FieldEditor::tr("a whole number"));
    case FieldType::Number:
        return value.isNumber() ? Result<void>() : wrong(FieldEditor::tr("a number"));
    case FieldType::List:
        return value.isList() ? Result<void>() : wrong(FieldEditor::tr("a list such as [a, b]"));
    case FieldType::Map:
        return value.isMap() ? Result<void>() : wrong(FieldEditor::tr("a map such as {0: 1, 4: 2}"));
    default:
        return {};
    }
}

Result<void> fitsRange(const Field& field, const Value& value)
{
    if (!value.isNumber())
        return {};
    const double number = value.asDouble();
    if (field.least && number < *field.least)
        return Error{ErrorCode::InvalidSetup,
                     FieldEditor::tr("The least is %1.").arg(formatNumber(*field.least)).toStdString(),
                     {}};
    if (field.most && number > *field.most)
        return Error{ErrorCode::InvalidSetup,
                     FieldEditor::tr("The most is %1.").arg(formatNumber(*field.most, 10)).toStdString(),
                     {}};
    return {};
}

} // namespace

FieldEditor::FieldEditor(const Field& field, QWidget* parent) : QWidget(parent), m_field(field)
{
    setObjectName(toQt(field.path));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 5, 12, 5);
    column->setSpacing(3);
    column->addLayout(makeHead());
    column->addLayout(makeLine());

    m_problem = new ThemedLabel({}, uiFont(TextSize::Tiny, QFont::Medium), &Theme::stop, this);
    m_problem->setWordWrap(true);
    m_problem->hide();
    column->addWidget(m_problem);
    m_findings = new QWidget(this);
    auto* list = new QVBoxLayout(m_findings);
    list->setContentsMargins(0, 0, 0, 0);
    list->setSpacing(2);
    column->addWidget(m_findings);
    auto* help = new ThemedLabel(toQt(field.help), uiFont(TextSize::Tiny), &Theme::text2, this);
    help->setWordWrap(true);
    help->setVisible(!field.help.empty());
    column->addWidget(help);
    editor()->setAccessibleName(toQt(field.label));
    editor()->setAccessibleDescription(toQt(field.help));
}

QHBoxLayout* FieldEditor::makeHead()
{
    auto* head = new QHBoxLayout;
    head->setSpacing(4);
    m_label =
        new ThemedLabel(toQt(m_field.label), uiFont(TextSize::Small, QFont::Medium), &Theme::text, this);
    m_label->setToolTip(toQt(m_field.path));
    head->addWidget(m_label);
    if (m_field.use == FieldUse::Checks) {
        auto* mark = new ThemedLabel(tr("checked only"), uiFont(TextSize::Tiny), &Theme::text3, this);
        mark->setToolTip(tr("Rules read it. This engine trains without it."));
        head->addWidget(mark);
    }
    head->addStretch(1);
    if (!m_field.unit.empty())
        head->addWidget(new ThemedLabel(toQt(m_field.unit), uiFont(TextSize::Tiny), &Theme::text2, this));
    return head;
}

QHBoxLayout* FieldEditor::makeLine()
{
    auto* line = new QHBoxLayout;
    line->setSpacing(4);
    makeEditor();
    line->addWidget(editor(), 1);
    m_reset = new QToolButton(this);
    m_reset->setIcon(icon(QStringLiteral("reset")));
    m_reset->setProperty("small", true);
    m_reset->setFocusPolicy(Qt::StrongFocus);
    m_reset->setToolTip(tr("Remove it from the file: the default holds again"));
    m_reset->setAccessibleName(tr("Reset %1").arg(toQt(m_field.label)));
    auto policy = m_reset->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_reset->setSizePolicy(policy);
    connect(m_reset, &QToolButton::clicked, this, [this] { emit resetAsked(m_field); });
    line->addWidget(m_reset);
    return line;
}

QWidget* FieldEditor::editor() const
{
    return m_choice ? static_cast<QWidget*>(m_choice) : m_line;
}

void FieldEditor::showDefault(const Value& value)
{
    // As the table of fields writes it where it is that one: 1.0e-08, not 1e-08.
    const bool own = value == m_field.defaultValue() && value.isSet();
    const auto written = own ? toQt(m_field.fallback)
                             : QString::fromStdString(value.isString() ? value.asString() : value.text());
    const auto text = value.isSet() ? tr("%1 (default)").arg(written) : tr("not set");
    if (m_choice)
        m_choice->setItemText(0, text);
    else
        m_line->setPlaceholderText(text);
}

void FieldEditor::makeEditor()
{
    const auto font = monoFont(TextSize::Small);
    if (m_field.type == FieldType::Bool || (!m_field.choices.empty() && m_field.type != FieldType::List)) {
        m_choice = new CalmCombo(this);
        m_choice->setFont(font);
        m_choice->addItem(QString(), QString()); // The default, see showDefault().
        if (m_field.type == FieldType::Bool)
            for (const auto& word : {QStringLiteral("true"), QStringLiteral("false")})
                m_choice->addItem(word, word);
        for (const auto choice : m_field.choices)
            m_choice->addItem(toQt(choice), toQt(choice));
        connect(m_choice, &QComboBox::activated, this,
                [this](int index) { commit(m_choice->itemData(index).toString()); });
        return;
    }
    m_line = new QLineEdit(this);
    m_line->installEventFilter(this);
    m_line->setFont(font);
    connect(m_line, &QLineEdit::editingFinished, this, [this] { commit(m_line->text()); });
}

bool FieldEditor::eventFilter(QObject* watched, QEvent* event)
{
    // What was typed and not yet taken over is the field's to undo; with nothing typed, undo is the
    // document's.
    if (watched == m_line && event->type() == QEvent::ShortcutOverride && m_line->text() == m_shown) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo))
            return true;
    }
    return QWidget::eventFilter(watched, event);
}

Result<Value> FieldEditor::valueOf(const Field& field, const QString& text)
{
    if (text.trimmed().isEmpty())
        return Value();
    auto value = field.type == FieldType::Text || field.type == FieldType::Choice
        ? Value(text.toStdString())
        : readFlowValue(text.toStdString());
    if (const auto fits = fitsType(field, value); !fits)
        return fits.error();
    if (const auto fits = fitsRange(field, value); !fits)
        return fits.error();
    return value;
}

void FieldEditor::commit(const QString& text)
{
    if (text == m_shown)
        return;
    const auto value = valueOf(m_field, text);
    m_problem->setVisible(!value);
    if (!value) {
        m_problem->setText(QString::fromStdString(value.error().message));
        return;
    }
    m_shown = text;
    if (value->isAbsent())
        emit resetAsked(m_field);
    else
        emit valueChosen(m_field, *value);
}

void FieldEditor::showValue(const Setup& setup, const std::vector<Finding>& findings)
{
    const auto& value = setup[m_field];
    m_isSet = !value.isAbsent();
    m_shown =
        m_isSet ? QString::fromStdString(value.isString() ? value.asString() : value.text()) : QString();
    m_problem->hide();
    m_reset->setVisible(m_isSet);
    m_label->setColour(m_isSet ? &Theme::text : &Theme::text2);
    if (m_choice) {
        int index = m_choice->findData(m_shown);
        if (index < 0) {
            const auto classPath = value.isMap() ? value["class_path"].asString() : std::string();
            m_choice->addItem(classPath.empty() ? m_shown : toQt(shortClassName(classPath)), m_shown);
            index = m_choice->count() - 1;
        }
        m_choice->setCurrentIndex(index);
    } else if (!m_line->hasFocus() || m_line->text() != m_shown) {
        m_line->setText(m_shown);
    }
    showDefault(defaultIn(setup, m_field));
    showFindings(findings);
}

void FieldEditor::showFindings(const std::vector<Finding>& findings)
{
    auto* list = m_findings->layout();
    while (auto* item = list->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_worst = -1;
    for (const auto& finding : findings) {
        if (std::find(finding.paths.begin(), finding.paths.end(), m_field.path) == finding.paths.end())
            continue;
        if (m_worst < 0)
            m_worst = static_cast<int>(finding.severity);
        const auto words = QStringLiteral("%1: %2").arg(severityTitle(finding.severity, finding.stage),
                                                        QString::fromStdString(finding.message));
        auto* label = new ThemedLabel(words, uiFont(TextSize::Tiny, QFont::Medium),
                                      isError(finding.severity)                   ? &Theme::stop
                                          : finding.severity == Severity::Differs ? &Theme::warn
                                                                                  : &Theme::text2,
                                      m_findings);
        label->setWordWrap(true);
        list->addWidget(label);
    }
    m_findings->setVisible(list->count() > 0);
    update();
}

void FieldEditor::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (m_worst >= 0)
        painter.fillRect(0, 4, 3, height() - 8,
                         toneColours(theme(), severityTone(static_cast<Severity>(m_worst))).ink);
}

} // namespace mantissa::ui
