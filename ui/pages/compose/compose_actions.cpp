#include "engine/recipe/presets.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/setup_text.h"
#include "ui/bridge/run_request.h"
#include "ui/diagram/stage_item.h"
#include "ui/diagram/step_scene.h"
#include "ui/diagram/step_view.h"
#include "ui/document/setup_document.h"
#include "ui/models/findings_model.h"
#include "ui/models/palette_block.h"
#include "ui/pages/compose/compose_page.h"
#include "ui/pages/compose/document_header.h"
#include "ui/pages/compose/findings_panel.h"
#include "ui/pages/compose/fix_consequences.h"
#include "ui/pages/compose/inspector.h"
#include "ui/pages/compose/rule_help.h"
#include "ui/pages/navigation.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/pop_over.h"

#include <QFileInfo>
#include <QMenu>
#include <QPushButton>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {
namespace {

QString text(const std::string& value)
{
    return QString::fromStdString(value);
}

ThemedLabel* wrapped(const QString& words, const QFont& font, QColor Theme::*colour, QWidget* parent)
{
    auto* label = new ThemedLabel(words, font, colour, parent);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

} // namespace

void ComposePage::addToMenus(const WindowMenus& menus)
{
    auto* presetMenu = menus.file->addMenu(tr("&New from preset"));
    for (const auto& preset : presets()) {
        const auto title =
            QString::fromUtf8(preset.title.data(), static_cast<qsizetype>(preset.title.size()));
        auto* action = presetMenu->addAction(preset.good ? title : tr("%1 (fails)").arg(title), this,
                                             [this, &preset] { startFromPreset(preset); });
        action->setToolTip(
            QString::fromUtf8(preset.sentence.data(), static_cast<qsizetype>(preset.sentence.size())));
    }
    presetMenu->setToolTipsVisible(true);
    menus.file->addAction(tr("New, empty"), QKeySequence::New, this, [this] {
        emit m_services.navigation.draftAsked(
            QStringLiteral("# A set-up: choose blocks at the left.\ntrainer:\n  max_epochs: 1\n"),
            tr("untitled.yaml"));
    });
    menus.setup->addAction(tr("&Next finding"), QKeySequence(Qt::Key_F8), this,
                           [this] { m_findings->step(1); });
    menus.setup->addAction(tr("&Previous finding"), QKeySequence(Qt::SHIFT | Qt::Key_F8), this,
                           [this] { m_findings->step(-1); });
    menus.setup->addAction(tr("&Ways out of this finding"), QKeySequence(Qt::CTRL | Qt::Key_Period), this,
                           [this] { m_findings->step(0); });
    menus.setup->addAction(tr("Fix all &safe"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Period), this,
                           &ComposePage::fixAllSafe);
    menus.setup->addSeparator();
    menus.setup->addAction(tr("&Facts about your module"), this,
                           [this] { emit m_services.navigation.factsAsked(); });
    menus.setup->addAction(tr("Edit the &YAML"), this, [this] { m_inspector->openYaml(); });
    menus.run->addAction(tr("&Start"), QKeySequence(Qt::CTRL | Qt::Key_R), this, &ComposePage::askStart);
}

void ComposePage::applyEdits(const std::vector<Edit>& edits, const QString& title)
{
    if (const auto done = m_services.document.apply(edits, title); !done)
        m_messages->showError(done.error());
    else
        m_messages->hide();
}

void ComposePage::previewFix(int finding, int fix)
{
    const auto& document = m_services.document;
    if (finding >= static_cast<int>(m_findingsModel->findings().size()))
        return;
    const auto& found = m_findingsModel->findings()[static_cast<std::size_t>(finding)];
    const auto preview = ui::previewFix(document.setup(), document.plan(), document.report(), found,
                                        found.fixes[static_cast<std::size_t>(fix)]);
    if (!preview)
        return;
    m_scene->setPreview(preview->picture);
    m_inspector->preview(&preview->after, &preview->picture.after, preview->picture.title);
}

void ComposePage::endPreview()
{
    m_scene->setPreview(std::nullopt);
    m_inspector->preview(nullptr, nullptr, {});
}

void ComposePage::applyFix(int finding, int fix)
{
    if (finding >= static_cast<int>(m_findingsModel->findings().size()))
        return;
    const auto found = m_findingsModel->findings()[static_cast<std::size_t>(finding)];
    const auto& chosen = found.fixes[static_cast<std::size_t>(fix)];
    if (chosen.edits.empty()) {
        showManualFix(chosen);
        return;
    }
    applyEdits(chosen.edits, text(chosen.title));
    m_view->focusStage(found.stage);
}

void ComposePage::fixAllSafe()
{
    auto& document = m_services.document;
    const auto report = mantissa::fixAllSafe(document.setup(), document.report().target);
    if (report.applied.empty())
        return;
    QStringList titles;
    for (const auto& title : report.applied)
        titles << text(title);
    const auto all = titles.join(QStringLiteral(", "));
    if (const auto done = document.apply(report.edits, tr("Fix all safe: %1").arg(all)); !done) {
        m_messages->showError(done.error());
        return;
    }
    m_messages->showNote(tr("Applied: %1. Undo takes all of it back.").arg(all));
}

void ComposePage::clearSetting(Stage stage)
{
    std::vector<PlanChip> asked;
    for (const auto& chip : m_scene->stage(stage).shown().chips)
        if (chip.asked && !chip.path.empty() && m_services.document.setup().has(chip.path))
            asked.push_back(chip);
    if (asked.size() == 1) {
        (void)m_services.document.resetField(asked.front().path);
        return;
    }
    if (asked.empty())
        return;
    QMenu menu(this);
    for (const auto& chip : asked)
        menu.addAction(tr("Clear %1: %2").arg(text(chip.label), text(chip.value)), this,
                       [this, path = chip.path] { (void)m_services.document.resetField(path); });
    const auto& item = m_scene->stage(stage);
    menu.exec(m_view->viewport()->mapToGlobal(m_view->mapFromScene(item.sceneBoundingRect().center())));
}

void ComposePage::explain(int finding)
{
    const auto& found = m_findingsModel->findings()[static_cast<std::size_t>(finding)];
    const auto help = ruleHelp(text(found.rule));
    m_pop->clear();
    auto* browser = new QTextBrowser(m_pop);
    browser->setFrameShape(QFrame::NoFrame);
    browser->setOpenExternalLinks(true);
    browser->document()->setDefaultFont(uiFont());
    browser->viewport()->setAutoFillBackground(false);
    auto source = QStringLiteral("%1 %2 %3")
                      .arg(text(found.source.project), text(found.source.version), text(found.source.where));
    browser->setMarkdown(help.isEmpty()
                             ? QStringLiteral("## %1\n\n%2\n\n%3\n\n%4")
                                   .arg(text(found.rule), text(found.message), text(found.why), source)
                             : help);
    m_pop->column().addWidget(browser, 1);
    auto* row = new QWidget(m_pop);
    auto* across = new QHBoxLayout(row);
    across->setContentsMargins(0, 0, 0, 0);
    auto* origin = new ElidedLabel(source, row);
    origin->setFont(uiFont(TextSize::Tiny));
    across->addWidget(origin, 1);
    auto* knowledge = new QPushButton(tr("Open in Knowledge"), row);
    connect(knowledge, &QPushButton::clicked, this, [this, rule = text(found.rule)] {
        m_pop->hide();
        emit m_services.navigation.ruleAsked(rule);
        emit m_services.navigation.pageAsked(QStringLiteral("knowledge"));
    });
    across->addWidget(knowledge);
    auto* close = new QPushButton(tr("Close"), row);
    connect(close, &QPushButton::clicked, m_pop, &QWidget::hide);
    across->addWidget(close);
    m_pop->column().addWidget(row);
    m_pop->showCentred({620, 460});
}

void ComposePage::showReason(QWidget* anchor, const BlockVerdict& verdict)
{
    m_pop->clear();
    auto& column = m_pop->column();
    column.addWidget(
        wrapped(text(verdict.title), uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, m_pop));
    column.addWidget(wrapped(text(verdict.why), uiFont(TextSize::Small), &Theme::text, m_pop));
    if (!verdict.source.empty())
        column.addWidget(wrapped(text(verdict.source), uiFont(TextSize::Tiny), &Theme::text2, m_pop));
    if (!verdict.wayOut.empty()) {
        column.addWidget(wrapped(tr("A way out: %1").arg(text(verdict.wayOutTitle)), uiFont(TextSize::Small),
                                 &Theme::text, m_pop));
        auto* make = new QPushButton(tr("Make it possible"), m_pop);
        connect(make, &QPushButton::clicked, this, [this, verdict] {
            m_pop->hide();
            applyEdits(verdict.wayOut, text(verdict.wayOutTitle));
        });
        column.addWidget(make, 0, Qt::AlignLeft);
    }
    column.addWidget(wrapped(verdict.sign == BlockVerdict::Sign::Refused
                                 ? tr("⊘ refused by the target. It may still be chosen.")
                                 : tr("◇ checked only: this engine cannot train it. It may be chosen."),
                             uiFont(TextSize::Tiny), &Theme::text2, m_pop));
    m_pop->showBeside(anchor);
}

void ComposePage::showManualFix(const Fix& fix)
{
    m_pop->clear();
    auto& column = m_pop->column();
    column.addWidget(wrapped(text(fix.title), uiFont(TextSize::Base, QFont::DemiBold), &Theme::text, m_pop));
    column.addWidget(wrapped(text(fix.text), monoFont(TextSize::Small), &Theme::text, m_pop));
    column.addWidget(
        wrapped(tr("By hand: no setting does this."), uiFont(TextSize::Tiny), &Theme::text2, m_pop));
    m_pop->showCentred({460, 240});
}

void ComposePage::askStart()
{
    const auto hindrance = m_header->startHindrance();
    if (!hindrance.isEmpty()) {
        m_messages->showError({ErrorCode::NotHere, hindrance.toStdString(), {}});
        return;
    }
    const auto& document = m_services.document;
    const auto plan = planRun(document.setup());
    if (!plan) {
        m_messages->showError(plan.error());
        return;
    }
    if (startRefusals(document.report(), plan->mode).empty())
        start(nullptr);
    else
        offerModes();
}

void ComposePage::offerModes()
{
    const auto& report = m_services.document.report();
    m_pop->clear();
    auto& column = m_pop->column();
    column.addWidget(
        wrapped(text(report.onTarget.words), uiFont(TextSize::Base, QFont::DemiBold), &Theme::stop, m_pop));
    column.addWidget(wrapped(tr("A run in the default mode is refused where its target refuses it. Fix it "
                                "first, or say how it shall run."),
                             uiFont(TextSize::Small), &Theme::text, m_pop));
    const auto add = [&](const QString& title, const QString& what, auto action) {
        auto* button = new QPushButton(title, m_pop);
        button->setToolTip(what);
        connect(button, &QPushButton::clicked, this, [this, action] {
            m_pop->hide();
            action();
        });
        column.addWidget(button);
        column.addWidget(wrapped(what, uiFont(TextSize::Tiny), &Theme::text2, m_pop));
    };
    add(tr("Show the finding"), tr("Its fixes are one click away."), [this] { m_findings->step(1); });
    if (startRefusals(report, RunMode::Faithful).empty())
        add(tr("Start, stop where the target stops"),
            tr("mode: faithful. The engine's own step raises the documented error."),
            [this] { start("faithful"); });
    if (startRefusals(report, RunMode::Extended).empty())
        add(tr("Start anyway"),
            tr("mode: extended. This engine trains it where it does better than the target."),
            [this] { start("extended"); });
    m_pop->showBelow(m_header->startButton());
}

void ComposePage::start(const char* mode)
{
    const auto& document = m_services.document;
    auto written = mode ? editSetupText(document.text(), {Edit{EditOp::Set, "mantissa.mode", mode}})
                        : Result<std::string>(document.text());
    if (!written) {
        m_messages->showError(written.error());
        return;
    }
    // With the mode in the text, so that what is stored is what ran.
    auto request =
        requestFor(*written, QFileInfo(document.name()).completeBaseName().toStdString(), m_services.history);
    if (!request) {
        m_messages->showError(request.error());
        return;
    }
    m_messages->hide();
    request->resume = document.resume();
    emit m_services.navigation.runAsked(*request);
}

void ComposePage::startFromPreset(const Preset& preset)
{
    const auto text = [](std::string_view value) {
        return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
    };
    emit m_services.navigation.draftAsked(text(preset.yaml), text(preset.id) + QStringLiteral(".yaml"));
}

void ComposePage::goBack()
{
    auto& stack = m_services.document.undoStack();
    while (!m_services.document.isReadable() && stack.canUndo())
        stack.undo();
}

} // namespace mantissa::ui
