#include "ui/pages/compose/stage_form.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/path.h"
#include "engine/recipe/training_classes.h"
#include "ui/document/setup_document.h"
#include "ui/models/field_group.h"
#include "ui/pages/compose/field_editor.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/severity.h"

#include <QComboBox>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr std::string_view kFacts = "mantissa.facts.";

} // namespace

StageForm::StageForm(SetupDocument& document, QWidget* parent) : QWidget(parent), m_document(document)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* head = new Surface(&Theme::panel, Qt::BottomEdge, this);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(12, 4, 8, 4);
    auto* stages = new QComboBox(head);
    stages->setObjectName(QStringLiteral("stages"));
    stages->setAccessibleName(tr("Stage"));
    for (const auto& stage : kStages)
        stages->addItem(stageTitleText(stage.stage), static_cast<int>(stage.stage));
    connect(stages, &QComboBox::activated, this,
            [this, stages](int index) { showStage(static_cast<Stage>(stages->itemData(index).toInt())); });
    row->addWidget(stages, 1);
    column->addWidget(head);

    m_scroll = makeColumnScroll(this);
    column->addWidget(m_scroll, 1);
    connect(&m_document, &SetupDocument::changed, this, &StageForm::showValues);
    rebuild();
}

void StageForm::showStage(Stage stage, const QString& path)
{
    if (stage != m_stage) {
        m_stage = stage;
        rebuild();
    }
    if (!path.isEmpty())
        focusField(path);
}

void StageForm::rebuild()
{
    auto* stages = findChild<QComboBox*>(QStringLiteral("stages"));
    stages->setCurrentIndex(stages->findData(static_cast<int>(m_stage)));
    m_editors.clear();
    m_folded.clear();
    m_headings.clear();
    m_more = nullptr;
    m_fields = new Surface(&Theme::panel);
    auto* column = new QVBoxLayout(m_fields);
    column->setContentsMargins(0, 6, 0, 12);
    column->setSpacing(2);
    std::vector<const Field*> first;
    std::vector<const Field*> rest;
    for (const auto* field : allFields())
        if (field->stage == stageId(m_stage) && !field->path.starts_with(kFacts))
            (field->use == FieldUse::Runs ? first : rest).push_back(field);
    m_ownNote = nullptr;
    if (m_stage == Stage::Optimizer)
        addOwnNote();
    addGroups(first);
    if (m_editors.empty() && rest.empty())
        column->addWidget(new ThemedLabel(tr("  This stage has no settings of its own."),
                                          uiFont(TextSize::Small), &Theme::text2, m_fields));
    if (!rest.empty())
        addFolded(rest);
    column->addStretch(1);
    m_scroll->setWidget(m_fields);
    showValues();
}

/// Why the section of the optimizer is not offered.
void StageForm::addOwnNote()
{
    m_ownNote =
        new ThemedLabel(tr("The model brings its own optimizers and steps them itself, so there is no "
                           "section for one, and no schedule."),
                        uiFont(TextSize::Small), &Theme::text2, m_fields);
    m_ownNote->setWordWrap(true);
    m_ownNote->setContentsMargins(12, 6, 12, 4);
    m_fields->layout()->addWidget(m_ownNote);
}

std::vector<FieldEditor*> StageForm::addGroups(const std::vector<const Field*>& fields)
{
    const auto groups = fieldGroups(fields);
    std::vector<FieldEditor*> added;
    for (const auto& group : groups) {
        Heading heading;
        if (groups.size() > 1) {
            heading.label =
                new ThemedLabel(group.title, uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, m_fields);
            heading.label->setContentsMargins(12, 10, 12, 2);
            m_fields->layout()->addWidget(heading.label);
        }
        for (const auto* field : group.fields)
            heading.editors.push_back(add(*field));
        added.insert(added.end(), heading.editors.begin(), heading.editors.end());
        if (heading.label)
            m_headings.push_back(std::move(heading));
    }
    return added;
}

/// A heading without a setting under it is not shown.
void StageForm::showHeadings()
{
    for (const auto& heading : m_headings)
        heading.label->setVisible(std::any_of(heading.editors.begin(), heading.editors.end(),
                                              [](const FieldEditor* each) { return !each->isHidden(); }));
}

FieldEditor* StageForm::add(const Field& field)
{
    auto* editor = new FieldEditor(field, m_fields);
    connect(editor, &FieldEditor::valueChosen, this, [this](const Field& changed, const Value& value) {
        if (const auto done = m_document.setField(std::string(changed.path), value); !done)
            emit errorRaised(QString::fromStdString(done.error().message));
    });
    connect(editor, &FieldEditor::resetAsked, this, [this](const Field& changed) {
        if (const auto done = m_document.resetField(std::string(changed.path)); !done)
            emit errorRaised(QString::fromStdString(done.error().message));
    });
    m_fields->layout()->addWidget(editor);
    m_editors.push_back(editor);
    return editor;
}

void StageForm::addFolded(const std::vector<const Field*>& fields)
{
    m_more = new QToolButton(m_fields);
    m_more->setCheckable(true);
    m_more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_more->setIcon(icon(QStringLiteral("chevron_right"), &Theme::text2));
    m_more->setText(tr("Checked only, not run here: %1").arg(fields.size()));
    m_more->setFont(uiFont(TextSize::Small, QFont::Medium));
    m_more->setFocusPolicy(Qt::StrongFocus);
    m_more->setProperty("role", QStringLiteral("flat"));
    connect(m_more, &QToolButton::toggled, this, &StageForm::reveal);
    static_cast<QVBoxLayout*>(m_fields->layout())->addWidget(m_more, 0, Qt::AlignLeft);
    m_folded = addGroups(fields);
}

/// Arguments of another class than the chosen one are not offered; what is written is always shown.
bool StageForm::isOffered(const Field& field) const
{
    const auto& setup = m_document.setup();
    return concernsClass(setup, field) || !setup[field].isAbsent();
}

void StageForm::reveal(bool more)
{
    m_more->setIcon(
        icon(more ? QStringLiteral("chevron_down") : QStringLiteral("chevron_right"), &Theme::text2));
    for (auto* editor : m_folded)
        editor->setVisible(isOffered(editor->field())
                           && (more || !m_document.setup()[editor->field()].isAbsent()));
    showHeadings();
}

void StageForm::showValues()
{
    for (auto* editor : m_editors) {
        editor->showValue(m_document.setup(), m_document.report().findings);
        editor->setVisible(isOffered(editor->field()));
    }
    if (m_ownNote)
        m_ownNote->setVisible(bringsOptimizers(m_document.setup()));
    if (m_more)
        reveal(m_more->isChecked());
    showHeadings();
    m_fields->setEnabled(m_document.isReadable());
}

void StageForm::focusFirst()
{
    if (!m_editors.empty())
        m_editors.front()->editor()->setFocus(Qt::TabFocusReason);
}

void StageForm::focusField(const QString& path)
{
    const auto found = std::find_if(m_editors.begin(), m_editors.end(),
                                    [&](const FieldEditor* editor) { return editor->objectName() == path; });
    if (found == m_editors.end())
        return;
    if (std::find(m_folded.begin(), m_folded.end(), *found) != m_folded.end())
        m_more->setChecked(true);
    m_fields->layout()->activate();
    m_scroll->ensureWidgetVisible(*found);
    (*found)->editor()->setFocus(Qt::OtherFocusReason);
}

} // namespace mantissa::ui
