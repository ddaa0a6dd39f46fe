#include "ui/pages/compose/facts_form.h"

#include "engine/recipe/fields.h"
#include "ui/document/setup_document.h"
#include "ui/pages/compose/field_editor.h"
#include "ui/text/convert.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/pill_label.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr std::string_view kFacts = "mantissa.facts.";

} // namespace

FactsForm::FactsForm(SetupDocument& document, QWidget* parent)
    : Surface(&Theme::panel, Qt::TopEdge, parent), m_document(document)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 1, 0, 0);
    column->setSpacing(0);
    auto* head = new Surface(&Theme::accentWeak, Qt::BottomEdge, this);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(12, 4, 12, 4);
    row->addWidget(new ThemedLabel(tr("About your module"), uiFont(TextSize::Base, QFont::DemiBold),
                                   &Theme::text, head));
    m_summary = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text2, head);
    row->addWidget(m_summary, 1);
    auto* close = new QPushButton(tr("Done"), head);
    close->setProperty("small", true);
    connect(close, &QPushButton::clicked, this, &FactsForm::done);
    row->addWidget(close);
    column->addWidget(head);

    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    m_inner = new Surface(&Theme::panel, {}, scroll);
    m_rows = new QVBoxLayout(m_inner);
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(0);
    scroll->setWidget(m_inner);
    column->addWidget(scroll, 1);
    connect(&m_document, &SetupDocument::changed, this, &FactsForm::rebuild);
    rebuild();
}

std::vector<FactsForm::Fact> FactsForm::facts() const
{
    std::vector<Fact> result;
    for (const auto& assumption : m_document.report().assumed)
        result.push_back({assumption.path, QString::fromStdString(assumption.text), {}, assumption.rules});
    for (const auto* field : allFields()) {
        if (!field->path.starts_with(kFacts) || m_document.setup()[*field].isAbsent())
            continue;
        result.push_back({std::string(field->path), toQt(field->help),
                          QString::fromStdString(m_document.setup()[*field].text()), 0});
    }
    return result;
}

void FactsForm::rebuild()
{
    while (auto* item = m_rows->takeAt(0)) {
        if (auto* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
        delete item;
    }
    const auto all = facts();
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
    m_rows->addStretch(1);
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
    if (fact.value.isEmpty())
        state->setContent(Tone::Neutral, tr("assumed"));
    else
        state->setContent(Tone::Ok, tr("answered"));
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
    const auto* field = fieldAt(fact.path);
    if (!std::string_view(fact.path).starts_with(
            kFacts)) { // No fact of the module: something else in the set-up settles it.
        const auto hardware = fact.path == field::accelerator.path;
        return new ThemedLabel(hardware ? tr("a target that names its hardware settles it")
                                        : tr("%1 in the set-up settles it").arg(toQt(fact.path)),
                               uiFont(TextSize::Small), &Theme::text2, parent);
    }
    auto* combo = new QComboBox(parent);
    combo->setFont(monoFont(TextSize::Small));
    combo->setMinimumWidth(170);
    combo->setAccessibleName(fact.statement);
    combo->setObjectName(QString::fromStdString(fact.path));
    combo->addItem(tr("assume it"), QString());
    QStringList choices;
    if (field && field->type == FieldType::Bool)
        choices = {QStringLiteral("true"), QStringLiteral("false")};
    else if (field && field->type != FieldType::List)
        for (const auto choice : field->choices)
            choices << toQt(choice);
    for (const auto& choice : choices)
        combo->addItem(choice, choice);
    if (choices.isEmpty()) {
        combo->setEditable(true);
        combo->lineEdit()->setPlaceholderText(field && !field->fallback.empty() ? toQt(field->fallback)
                                                                                : tr("not set"));
        connect(combo->lineEdit(), &QLineEdit::editingFinished, this, [this, combo, path = fact.path] {
            if (combo->currentText() != tr("assume it"))
                answer(path, combo->currentText());
        });
    }
    const int index = combo->findData(fact.value);
    if (index >= 0)
        combo->setCurrentIndex(index);
    else
        combo->setCurrentText(fact.value);
    connect(combo, &QComboBox::activated, this, [this, combo, path = fact.path](int chosen) {
        answer(path, combo->itemData(chosen).toString());
    });
    return combo;
}

void FactsForm::answer(const std::string& path, const QString& words)
{
    const auto* field = fieldAt(path);
    if (words.isEmpty()) {
        (void)m_document.resetField(path);
        return;
    }
    const auto value =
        field ? FieldEditor::valueOf(*field, words) : Result<Value>(Value(words.toStdString()));
    if (value && m_document.setup().at(path) != *value)
        (void)m_document.setField(path, *value);
}

} // namespace mantissa::ui
