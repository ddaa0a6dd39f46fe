#include "ui/pages/compose/memory_panel.h"

#include "engine/recipe/memory_forecast.h"
#include "engine/recipe/step_dtypes.h"
#include "ui/text/convert.h"
#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/widgets/memory_bar.h"
#include "ui/widgets/panels.h"

#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

std::vector<MemoryPart> partsOf(const MemoryTerms& terms, const StepDtypes& dtypes, bool eightBit)
{
    constexpr double kMiddle = 0.7;
    constexpr double kWeak = 0.42;
    const QString stored = toQt(dtypes.stored);
    std::vector<MemoryPart> parts = {
        {MemoryPanel::tr("Weights"), stored, 1.0, terms.parameters},
        {MemoryPanel::tr("Gathered weights"), toQt(dtypes.gathered), 1.0, terms.gathered},
        {MemoryPanel::tr("Gradients"), stored, kMiddle, terms.gradients},
        {MemoryPanel::tr("Gradients on their way"), toQt(dtypes.reduce), kMiddle, terms.reduction},
        {MemoryPanel::tr("Optimizer state"), eightBit ? MemoryPanel::tr("8-bit") : stored, kWeak,
         terms.optimizer},
    };
    std::erase_if(parts, [](const MemoryPart& part) { return part.bytes == 0; });
    return parts;
}

QString leftOutText()
{
    QStringList sentences;
    for (const auto sentence : memoryLeftOut())
        sentences << toQt(sentence);
    return MemoryPanel::tr("Computed from sizes. Not counted: %1.").arg(sentences.join(u"; "));
}

} // namespace

MemoryPanel::MemoryPanel(QWidget* parent) : QWidget(parent)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 14, 16, 14);
    column->setSpacing(12);
    m_previewed = new ThemedLabel({}, uiFont(TextSize::Small, QFont::Medium), &Theme::accent, this);
    m_previewed->setWordWrap(true);
    column->addWidget(m_previewed);
    m_about = new ThemedLabel({}, uiFont(TextSize::Small, QFont::Medium), &Theme::text, this);
    m_about->setWordWrap(true);
    column->addWidget(m_about);
    m_bar = new MemoryBar(this);
    column->addWidget(m_bar);
    m_leftOut = new ThemedLabel(leftOutText(), uiFont(TextSize::Small), &Theme::text2, this);
    m_leftOut->setWordWrap(true);
    column->addWidget(m_leftOut);
    column->addStretch(1);
}

void MemoryPanel::setSetup(const Setup& setup, const QString& previewed)
{
    m_previewed->setText(tr("As previewed: %1").arg(previewed));
    m_previewed->setVisible(!previewed.isEmpty());
    const auto plan = planRun(setup);
    if (!plan)
        return showReason(tr("Not known: %1").arg(toQt(plan.error().message)));
    const auto terms = forecastMemory(*plan);
    if (!terms)
        return showReason(tr("Known once the run starts: a TorchScript file is read then."));
    m_about->setText(plan->ranks > 1 ? tr("Memory of one rank of %1").arg(plan->ranks)
                                     : tr("Memory of the rank"));
    m_bar->setParts(partsOf(*terms, stepDtypes(setup), plan->optimizer.hasEightBitState()));
    m_bar->show();
    m_leftOut->show();
}

void MemoryPanel::showReason(const QString& reason)
{
    m_about->setText(reason);
    m_bar->hide();
    m_leftOut->hide();
}

} // namespace mantissa::ui
