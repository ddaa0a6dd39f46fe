#include "ui/pages/compose/facts_form.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "ui/document/setup_document.h"
#include "ui/pages/compose/field_editor.h"
#include "ui/text/convert.h"
#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/pill_label.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr std::string_view kFacts = "mantissa.facts.";

/// The setting that answers an assumption; of a section the class in it.
const Field* answeredBy(const std::string& path)
{
    const auto* field = fieldAt(path);
    return field ? field : fieldAt(path + ".class_path");
}

QStringList choicesOf(const Field& field)
{
    if (field.type == FieldType::Bool)
        return {QStringLiteral("true"), QStringLiteral("false")};
    QStringList choices;
    if (field.type != FieldType::List)
        for (const auto choice : field.choices)
            choices << toQt(choice);
    return choices;
}

} // namespace

FactsForm::FactsForm(SetupDocument& document, QWidget* parent)
    : Surface(&Theme::panel, Qt::TopEdge, parent), m_document(document)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 1, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHead());

    auto* scroll = makeColumnScroll(this);
    m_inner = new Surface(&Theme::panel, {}, scroll);
    m_rows = new QVBoxLayout(m_inner);
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(0);
    scroll->setWidget(m_inner);
    column->addWidget(scroll, 1);
    connect(&m_document, &SetupDocument::changed, this, [this] {
        if (isVisible())
            showFacts();
    });
}

QWidget* FactsForm::makeHead()
{
    auto* head = new Surface(&Theme::accentWeak, Qt::BottomEdge, this);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(12, 4, 12, 4);
    row->addWidget(new ThemedLabel(tr("About your module"), uiFont(TextSize::Base, QFont::DemiBold),
                                   &Theme::text, head));
    m_summary = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text2, head);
    m_summary->setWordWrap(true);
    row->addWidget(m_summary, 1);
    auto* close = new QPushButton(tr("Done"), head);
    close->setProperty("small", true);
    connect(close, &QPushButton::clicked, this, &FactsForm::done);
    row->addWidget(close);
    return head;
}

void FactsForm::showEvent(QShowEvent* event)
{
    Surface::showEvent(event);
    showFacts();
}

std::vector<FactsForm::Fact> FactsForm::asked() const
{
    std::vector<Fact> result;
    for (const auto& assumption : m_document.report().assumed)
        result.push_back({assumption.path, QString::fromStdString(assumption.text), {}, assumption.rules});
    for (const auto* field : allFields()) {
        const auto& value = m_document.setup()[*field];
        if (field->path.starts_with(kFacts) && !value.isAbsent())
            result.push_back({std::string(field->path), toQt(field->help),
                              QString::fromStdString(value.isString() ? value.asString() : value.text()), 0});
    }
    for (const auto& fact :
         impliedFacts(m_document.setup())) // What is written all the same stays to be seen.
        if (!m_document.setup().has(fact.path))
            result.push_back(
                {fact.path, QString::fromStdString(fact.why), QString::fromStdString(fact.value), 0, true});
    return result;
}

std::vector<FactsForm::Fact> FactsForm::others() const
{
    const auto known = asked();
    std::vector<Fact> result;
    for (const auto* field : allFields()) {
        const auto same = [&](const Fact& fact) { return fact.path == field->path; };
        if (field->path.starts_with(kFacts) && std::none_of(known.begin(), known.end(), same))
            result.push_back({std::string(field->path), toQt(field->help), {}, 0});
    }
    return result;
}

/// The focus stays on the fact that was answered.
void FactsForm::showFacts()
{
    const auto* focused = QApplication::focusWidget();
    const auto name = focused && isAncestorOf(focused) ? focused->objectName() : QString();
    rebuild();
    if (auto* again = name.isEmpty() ? nullptr : m_inner->findChild<QWidget*>(name))
        again->setFocus(Qt::OtherFocusReason);
}

void FactsForm::rebuild()
{
    for (auto* child : m_inner->findChildren<QWidget*>()) // The rows that come are found by the same names.
        child->setObjectName({});
    emptyLayout(*m_rows);
    const auto all = asked();
    const auto assumed =
        std::count_if(all.begin(), all.end(), [](const Fact& fact) { return fact.value.isEmpty(); });
    m_summary->setText(
        tr("%1 answered, %2 assumed. The YAML cannot say these; answers are kept in the set-up.")
            .arg(static_cast<qsizetype>(all.size()) - assumed)
            .arg(assumed));
    for (const auto& fact : all)
        m_rows->addWidget(makeRow(fact));
    if (all.empty())
        m_rows->addWidget(
            new ThemedLabel(tr("   No rule that applies here asks for a fact about your module."),
                            uiFont(TextSize::Small), &Theme::text2, m_inner));
    const auto rest = others();
    m_rows->addWidget(makeMore(rest.size()), 0, Qt::AlignLeft);
    if (m_all)
        for (const auto& fact : rest)
            m_rows->addWidget(makeRow(fact));
    m_rows->addStretch(1);
}

QWidget* FactsForm::makeMore(std::size_t count)
{
    auto* more = new QToolButton(m_inner);
    more->setObjectName(QStringLiteral("more"));
    more->setCheckable(true);
    more->setChecked(m_all);
    more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    more->setIcon(icon(m_all ? QStringLiteral("chevron_down") : QStringLiteral("chevron_right")));
    more->setText(tr("Facts that no rule asks for here: %1").arg(count));
    more->setFont(uiFont(TextSize::Small, QFont::Medium));
    more->setFocusPolicy(Qt::StrongFocus);
    more->setProperty("role", QStringLiteral("flat"));
    connect(more, &QToolButton::toggled, this, [this](bool all) {
        m_all = all;
        showFacts();
    });
    return more;
}

QWidget* FactsForm::makeRow(const Fact& fact)
{
    auto* row = new Surface(&Theme::panel, Qt::BottomEdge, m_inner);
    auto* across = new QHBoxLayout(row);
    across->setContentsMargins(12, 3, 12, 3);
    across->setSpacing(12);
    auto* statement = new ThemedLabel(fact.statement, uiFont(TextSize::Small), &Theme::text, row);
    statement->setWordWrap(true);
    statement->setToolTip(QString::fromStdString(fact.path));
    across->addWidget(statement, 1);
    across->addWidget(makeAnswers(fact, row));
    auto* state = new PillLabel(row);
    if (fact.implied)
        state->setContent(Tone::Neutral, tr("by the model"));
    else if (!fact.value.isEmpty())
        state->setContent(Tone::Ok, tr("answered"));
    else
        state->setContent(Tone::Neutral, fact.rules > 0 ? tr("assumed") : tr("not asked"));
    state->setMinimumWidth(86);
    across->addWidget(state);
    auto* rules = new ThemedLabel(fact.rules == 0       ? QString()
                                      : fact.rules == 1 ? tr("1 rule asks this")
                                                        : tr("%1 rules ask this").arg(fact.rules),
                                  uiFont(TextSize::Tiny), &Theme::text2, row);
    rules->setMinimumWidth(96);
    rules->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    across->addWidget(rules);
    return row;
}

QWidget* FactsForm::makeAnswers(const Fact& fact, QWidget* parent)
{
    if (fact.implied)
        return new ThemedLabel(fact.value, monoFont(TextSize::Small), &Theme::text, parent);
    const auto* field = answeredBy(fact.path);
    if (!field)
        return new ThemedLabel(toQt(fact.path), monoFont(TextSize::Small), &Theme::text2, parent);
    if (field->type == FieldType::List && !field->choices.empty())
        return makeHooks(*field, parent);
    auto* combo = new QComboBox(parent);
    combo->setFont(monoFont(TextSize::Small));
    combo->setMinimumWidth(170);
    combo->setAccessibleName(fact.statement);
    combo->setToolTip(toQt(field->path));
    combo->setObjectName(toQt(field->path));
    const auto nothing = fact.rules > 0 ? tr("assume it")
        : field->fallback.empty()       ? tr("not set")
                                        : tr("%1 (default)").arg(toQt(field->fallback));
    combo->addItem(nothing, QString());
    const auto choices = choicesOf(*field);
    for (const auto& choice : choices)
        combo->addItem(choice, choice);
    const std::string path(field->path);
    if (choices.isEmpty()) {
        combo->setEditable(true);
        combo->setInsertPolicy(QComboBox::NoInsert);
        connect(combo->lineEdit(), &QLineEdit::editingFinished, this, [this, combo, path, nothing] {
            const auto words = combo->currentText();
            answer(path, words == nothing ? QString() : words);
        });
    }
    const int index = combo->findData(fact.value);
    if (index >= 0)
        combo->setCurrentIndex(index);
    else if (combo->isEditable())
        combo->setCurrentText(fact.value);
    else { // Written by hand, and none of those known.
        combo->addItem(fact.value, fact.value);
        combo->setCurrentIndex(combo->count() - 1);
    }
    connect(combo, &QComboBox::activated, this,
            [this, combo, path](int chosen) { answer(path, combo->itemData(chosen).toString()); });
    return combo;
}

/// Several of a list: a menu with a check for each.
QWidget* FactsForm::makeHooks(const Field& field, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setObjectName(toQt(field.path));
    button->setFont(monoFont(TextSize::Small));
    button->setMinimumWidth(170);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setToolTip(toQt(field.path));
    button->setAccessibleName(toQt(field.help));
    auto* menu = new QMenu(button);
    QStringList chosen;
    for (const auto& value : m_document.setup()[field].asList())
        chosen << QString::fromStdString(value.asString());
    for (const auto choice : field.choices) {
        auto* action = menu->addAction(toQt(choice));
        action->setCheckable(true);
        action->setChecked(chosen.contains(toQt(choice)));
        connect(action, &QAction::toggled, this, [this, &field, chosen, name = toQt(choice)](bool on) {
            auto names = chosen;
            names.removeAll(name);
            if (on)
                names << name;
            answer(std::string(field.path),
                   names.isEmpty() ? QString() : u'[' + names.join(QStringLiteral(", ")) + u']');
        });
    }
    button->setMenu(menu);
    button->setText(chosen.isEmpty() ? tr("none") : counted(chosen.size(), tr("hook"), tr("hooks")));
    return button;
}

void FactsForm::answer(const std::string& path, const QString& words)
{
    const auto* field = fieldAt(path);
    if (words.isEmpty()) {
        if (m_document.setup().has(path))
            (void)m_document.resetField(path);
        return;
    }
    const auto value =
        field ? FieldEditor::valueOf(*field, words) : Result<Value>(Value(words.toStdString()));
    if (!value) {
        emit refused(value.error());
        return;
    }
    if (m_document.setup().at(path) != *value)
        (void)m_document.setField(path, *value);
}

} // namespace mantissa::ui
