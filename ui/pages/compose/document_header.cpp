#include "ui/pages/compose/document_header.h"

#include "engine/recipe/fields.h"
#include "ui/bridge/engine_loader.h"
#include "ui/document/setup_document.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/pill_label.h"

#include <QAction>
#include <QComboBox>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kWide = 1240; ///< From here on the long words fit.
constexpr int kNarrow = 1040; ///< Below, verdicts do without saying whose they are: their place tells.

/// "Target: will stop at step 1, at Clip" as "Will stop at step 1".
QString briefVerdict(const QString& words)
{
    auto brief = words.section(QStringLiteral(": "), -1).section(QLatin1Char(','), 0, 0);
    if (!brief.isEmpty())
        brief[0] = brief[0].toUpper();
    return brief;
}

Tone toneOf(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Runs:
        return Tone::Ok;
    case Verdict::RunsOtherwise:
        return Tone::Warn;
    case Verdict::Stops:
    case Verdict::WontStart:
        return Tone::Stop;
    case Verdict::NotChecked:
        break;
    }
    return Tone::Neutral;
}

QString frameworkName(Framework framework)
{
    switch (framework) {
    case Framework::Trainer:
        return DocumentHeader::tr("Trainer");
    case Framework::Fabric:
        return DocumentHeader::tr("Fabric");
    case Framework::Mantissa:
        break;
    }
    return DocumentHeader::tr("Mantissa");
}

/// "Lightning 2.6.6 Fabric · 8 × H100"
QString targetText(const Target& target)
{
    if (target.framework == Framework::Mantissa)
        return DocumentHeader::tr("This engine");
    auto text = QStringLiteral("Lightning %1 %2")
                    .arg(QString::fromStdString(target.lightning), frameworkName(target.framework));
    if (target.gpus && *target.gpus == 0)
        text += DocumentHeader::tr(" · CPU");
    else if (target.gpus)
        text += QStringLiteral(" · %1 × %2")
                    .arg(*target.gpus)
                    .arg(target.gpu.empty() ? DocumentHeader::tr("GPU") : QString::fromStdString(target.gpu));
    return text;
}

} // namespace

DocumentHeader::DocumentHeader(SetupDocument& document, EngineLoader& engine, QWidget* parent)
    : PageHeader(parent), m_document(document), m_engine(engine)
{
    addDocument();
    addTarget();
    row().addStretch(1);
    addActions();
    connect(&m_document, &SetupDocument::nameChanged, this, &DocumentHeader::showDocument);
    connect(&m_document, &SetupDocument::changed, this, [this] {
        showTarget();
        showVerdicts();
        showStart();
    });
    connect(&m_engine, &EngineLoader::stateChanged, this, &DocumentHeader::showStart);
    showDocument();
    showTarget();
    showVerdicts();
    showStart();
}

void DocumentHeader::addDocument()
{
    m_name = new ElidedLabel({}, this);
    m_name->setFont(uiFont(TextSize::Base, QFont::DemiBold));
    m_name->setElideMode(Qt::ElideMiddle);
    m_name->setMaximumWidth(220);
    row().addWidget(m_name, 0);
    m_modified = new ThemedLabel(QStringLiteral("•"), uiFont(TextSize::Base), &Theme::text3, this);
    m_modified->setToolTip(tr("Not saved"));
    row().addWidget(m_modified);
    auto& stack = m_document.undoStack();
    for (const bool undo : {true, false}) {
        auto* button = new QToolButton(this);
        auto* action =
            undo ? stack.createUndoAction(button, tr("Undo")) : stack.createRedoAction(button, tr("Redo"));
        action->setIcon(icon(undo ? QStringLiteral("undo") : QStringLiteral("redo")));
        button->setDefaultAction(action);
        button->setFocusPolicy(Qt::StrongFocus);
        button->setIconSize(QSize(16, 16));
        row().addWidget(button);
    }
    addSeparator();
}

void DocumentHeader::addTarget()
{
    m_target = new QComboBox(this);
    m_target->setAccessibleName(tr("Target"));
    m_target->setFont(uiFont(TextSize::Small));
    m_target->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    for (const auto& target : shippedTargets())
        m_target->addItem(targetText(target), QString::fromStdString(target.name));
    connect(m_target, &QComboBox::activated, this, [this](int index) {
        const auto name = m_target->itemData(index).toString().toStdString();
        if (!name.empty())
            (void)m_document.setField(std::string(field::target.path), Value(name));
    });
    row().addWidget(m_target);
    m_onTarget = new PillLabel(this);
    row().addWidget(m_onTarget);
}

void DocumentHeader::addActions()
{
    m_fixAll = new QPushButton(this);
    m_fixAll->setIcon(icon(QStringLiteral("wand")));
    m_fixAll->setFont(uiFont(TextSize::Small, QFont::Medium));
    m_fixAll->setToolTip(
        tr("Applies the safe fixes one at a time and checks again after each. One undo step."));
    connect(m_fixAll, &QPushButton::clicked, this, &DocumentHeader::fixAllAsked);
    row().addWidget(m_fixAll);
    addSeparator();
    m_here = new PillLabel(this);
    row().addWidget(m_here);
    m_start = new QPushButton(tr("Start"), this);
    m_start->setProperty("role", QStringLiteral("primary"));
    m_start->setFont(uiFont(TextSize::Small, QFont::Medium));
    connect(m_start, &QPushButton::clicked, this, &DocumentHeader::startAsked);
    row().addWidget(m_start);
}

void DocumentHeader::showDocument()
{
    m_name->setText(m_document.name());
    m_name->setToolTip(m_document.path().isEmpty() ? tr("Not saved yet") : m_document.path());
    m_modified->setVisible(m_document.isModified());
}

void DocumentHeader::showTarget()
{
    const auto& target = m_document.report().target;
    int index = m_target->findData(QString::fromStdString(target.name));
    const int custom = m_target->findData(QString());
    if (custom >= 0)
        m_target->removeItem(custom);
    if (index < 0) {
        m_target->addItem(targetText(target), QString());
        index = m_target->count() - 1;
    }
    m_target->setCurrentIndex(index);
    m_target->setToolTip(target.verified
                             ? QString::fromStdString(target.name)
                             : tr("%1: no verdicts were measured for this version, so they are unverified.")
                                   .arg(QString::fromStdString(target.name)));
}

void DocumentHeader::showVerdicts()
{
    const auto& report = m_document.report();
    if (const auto& failure = m_document.failure()) {
        m_onTarget->setContent(Tone::Stop, tr("Target: not checked, line %1").arg(failure->at.line));
        m_here->setContent(Tone::Neutral, tr("This machine: not checked"), QStringLiteral("clock"));
    } else if (m_document.isEmpty()) {
        m_onTarget->setContent(Tone::Neutral, tr("Target: nothing to check"));
        m_here->setContent(Tone::Neutral, tr("This machine: nothing to run"));
    } else {
        const auto onTarget = QString::fromStdString(report.onTarget.words);
        m_onTarget->setContent(toneOf(report.onTarget.verdict),
                               width() < kNarrow ? briefVerdict(onTarget) : onTarget);
        m_onTarget->setToolTip(onTarget);
        const auto words = QString::fromStdString(report.here.words);
        // The reason is in the tool tip, and in the message when Start is pressed.
        const auto brief = width() < kNarrow ? briefVerdict(words.section(QStringLiteral(". "), 0, 0))
            : width() < kWide                ? words.section(QLatin1Char(','), 0, 0)
                                             : words.section(QStringLiteral(". "), 0, 0);
        m_here->setContent(toneOf(report.here.verdict), brief);
        m_here->setToolTip(words);
    }
    const int fixes = safeFixes();
    m_fixAll->setText(width() < kWide ? tr("Fix safe  %1").arg(fixes) : tr("Fix all safe  %1").arg(fixes));
    m_fixAll->setEnabled(fixes > 0 && m_document.isReadable());
}

QString DocumentHeader::startHindrance() const
{
    if (!m_document.isReadable())
        return tr("The set-up cannot be read: line %1.").arg(m_document.failure()->at.line);
    if (m_document.isEmpty())
        return tr("There is no setting in this set-up yet.");
    if (m_running)
        return tr("A run is in progress: stop it first.");
    if (m_engine.state() == EngineLoader::State::Missing)
        return QString::fromStdString(m_engine.error().message + " " + m_engine.error().hint);
    const auto& here = m_document.report().here;
    if (here.verdict == Verdict::WontStart)
        return QString::fromStdString(here.words);
    return {};
}

QWidget* DocumentHeader::startButton() const
{
    return m_start;
}

void DocumentHeader::setRunning(bool running)
{
    m_running = running;
    showStart();
}

void DocumentHeader::showStart()
{
    const auto hindrance = startHindrance();
    m_start->setIcon(icon(QStringLiteral("play"), hindrance.isEmpty() ? &Theme::onAccent : &Theme::text3));
    m_start->setEnabled(hindrance.isEmpty());
    m_start->setToolTip(hindrance.isEmpty() ? tr("Trains it on this machine and shows the run (Ctrl+R)")
                                            : hindrance);
    m_start->setAccessibleDescription(hindrance);
}

int DocumentHeader::safeFixes() const
{
    int count = 0;
    for (const auto& finding : m_document.report().findings)
        count += std::any_of(finding.fixes.begin(), finding.fixes.end(),
                             [](const Fix& fix) { return fix.grade == FixGrade::Safe; })
            ? 1
            : 0;
    return count;
}

void DocumentHeader::resizeEvent(QResizeEvent* event)
{
    PageHeader::resizeEvent(event);
    showVerdicts();
}

} // namespace mantissa::ui
