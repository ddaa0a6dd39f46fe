#include "ui/pages/compose/inspector.h"

#include "ui/document/setup_document.h"
#include "ui/models/effective_model.h"
#include "ui/pages/compose/memory_panel.h"
#include "ui/pages/compose/stage_form.h"
#include "ui/pages/compose/yaml_editor.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"

#include <QHeaderView>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QVBoxLayout>

namespace mantissa::ui {

Inspector::Inspector(SetupDocument& document, QWidget* parent)
    : Surface(&Theme::panel, Qt::LeftEdge, parent), m_document(document)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 0, 0, 0);
    column->setSpacing(0);
    m_tabs = new QTabBar(this);
    m_tabs->setFont(uiFont(TextSize::Small, QFont::Medium));
    m_tabs->setExpanding(true);
    m_tabs->setDrawBase(true);
    for (const auto& title : {tr("Stage"), tr("Effective"), tr("Memory"), tr("YAML")})
        m_tabs->addTab(title);
    column->addWidget(m_tabs);
    m_stack = new QStackedWidget(this);
    m_form = new StageForm(m_document, m_stack);
    m_stack->addWidget(m_form);
    m_stack->addWidget(makeEffective());
    m_memory = new MemoryPanel(m_stack);
    m_stack->addWidget(m_memory);
    m_stack->addWidget(makeYaml());
    column->addWidget(m_stack, 1);
    connect(m_tabs, &QTabBar::currentChanged, m_stack, &QStackedWidget::setCurrentIndex);
    connect(&m_document, &SetupDocument::changed, this, &Inspector::showDocument);
    showDocument();
}

QWidget* Inspector::makeEffective()
{
    auto* page = new QWidget(m_stack);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_previewed = new ThemedLabel({}, uiFont(TextSize::Small, QFont::Medium), &Theme::accent, page);
    m_previewed->setContentsMargins(12, 6, 12, 6);
    m_previewed->setWordWrap(true);
    m_previewed->hide();
    column->addWidget(m_previewed);
    m_effective = new EffectiveModel(this);
    auto* table = new QTableView(page);
    table->setModel(m_effective);
    table->setFrameShape(QFrame::NoFrame);
    table->setShowGrid(false);
    table->setWordWrap(true);
    table->setSelectionMode(QAbstractItemView::NoSelection);
    table->setAccessibleName(tr("Requested and effective settings"));
    table->verticalHeader()->hide();
    table->verticalHeader()->setMinimumSectionSize(25);
    table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeader()->setFont(uiFont(TextSize::Tiny, QFont::Medium));
    table->horizontalHeader()->setHighlightSections(false);
    column->addWidget(table, 1);
    return page;
}

QWidget* Inspector::makeYaml()
{
    auto* page = new QWidget(m_stack);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_failure = new Surface(&Theme::stopWeak, Qt::BottomEdge, page);
    auto* box = new QVBoxLayout(m_failure);
    box->setContentsMargins(12, 8, 12, 10);
    box->setSpacing(4);
    m_failurePlace = new ThemedLabel({}, uiFont(TextSize::Small, QFont::DemiBold), &Theme::stop, m_failure);
    box->addWidget(m_failurePlace);
    m_failureText = new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text, m_failure);
    m_failureText->setWordWrap(true);
    box->addWidget(m_failureText);
    auto* back = new QPushButton(tr("Go back to what could be read"), m_failure);
    back->setObjectName(QStringLiteral("goBack"));
    back->setProperty("small", true);
    connect(back, &QPushButton::clicked, this, &Inspector::goBackAsked);
    box->addWidget(back, 0, Qt::AlignLeft);
    column->addWidget(m_failure);
    m_yaml = new YamlEditor(m_document, page);
    column->addWidget(m_yaml, 1);
    return page;
}

void Inspector::showDocument()
{
    const auto& failure = m_document.failure();
    m_failure->setVisible(failure.has_value());
    m_tabs->setTabIcon(YamlTab, failure ? icon(QStringLiteral("stop_sign"), &Theme::stop) : QIcon());
    if (failure) {
        m_failurePlace->setText(tr("Line %1, column %2").arg(failure->at.line).arg(failure->at.column));
        m_failureText->setText(QString::fromStdString(failure->message + " " + failure->hint));
        const auto time = m_document.lastReadable();
        auto* back = m_failure->findChild<QPushButton*>(QStringLiteral("goBack"));
        back->setVisible(time.isValid());
        back->setText(tr("Go back to %1").arg(time.toString(QStringLiteral("HH:mm:ss"))));
        if (m_tabs->currentIndex() != YamlTab)
            openYaml();
    }
    m_effective->setPlan(m_document.setup(), m_document.plan());
    m_memory->setSetup(m_document.setup());
    m_previewed->hide();
}

void Inspector::openStage(Stage stage, const QString& path)
{
    m_tabs->setCurrentIndex(StageTab);
    m_form->showStage(stage, path);
}

void Inspector::openYaml()
{
    m_tabs->setCurrentIndex(YamlTab);
    if (const auto& failure = m_document.failure())
        m_yaml->goTo(static_cast<int>(failure->at.line), static_cast<int>(failure->at.column));
}

void Inspector::preview(const Setup* after, const StepPlan* plan, const QString& title)
{
    m_effective->setPlan(after ? *after : m_document.setup(), plan ? *plan : m_document.plan());
    m_memory->setSetup(after ? *after : m_document.setup(), after ? title : QString());
    m_previewed->setText(tr("As previewed: %1").arg(title));
    m_previewed->setVisible(plan != nullptr);
}

} // namespace mantissa::ui
