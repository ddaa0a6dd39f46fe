#include "ui/plot/panel_spec.h"

#include <QCoreApplication>

#include <cmath>

namespace mantissa::ui {
namespace {

QString say(const char* text)
{
    return QCoreApplication::translate("RunPlot", text);
}

PanelSpec lossScalePanel()
{
    PanelSpec panel;
    panel.title = say("Loss scale");
    panel.subtitle = say("log₂ axis");
    panel.axis = PanelAxis::Log2;
    panel.steps = true;
    panel.scaleMarks = true;
    panel.height = 132;
    panel.curves = {{"loss_scale", 0, say("scale"), false, false}};
    return panel;
}

PanelSpec stalledPanel()
{
    PanelSpec panel;
    panel.title = say("Stalled updates");
    panel.subtitle = say("% of weights whose update rounds to nothing");
    panel.axis = PanelAxis::Percent;
    panel.height = 110;
    panel.curves = {{"stalled_share", 0, say("all weights"), true, false}};
    return panel;
}

/// "fp8_flushed_input" and its like, of the three kinds of tensors that the linear layers round.
PanelSpec fp8Panel(const char* title, const char* subtitle, const std::string& beginning, int height)
{
    PanelSpec panel;
    panel.title = say(title);
    panel.subtitle = say(subtitle);
    panel.axis = PanelAxis::Percent;
    panel.height = height;
    panel.curves = {{beginning + "_gradient", 0, say("gradients, e5m2"), true, false},
                    {beginning + "_weight", 1, say("weights, e4m3"), true, false},
                    {beginning + "_input", 2, say("inputs, e4m3"), true, false}};
    return panel;
}

PanelSpec updateRatioPanel(const RunOutline& outline)
{
    PanelSpec panel;
    panel.title = say("Update ratio");
    panel.subtitle = say("‖Δw‖ ÷ ‖w‖, log axis");
    panel.axis = PanelAxis::Log10;
    panel.height = 118;
    panel.curves = {{"update_ratio", 0, say("ratio"), true, false}};
    const int bits = weightMantissaBits(outline.precision);
    if (bits < 23) { // An update under half an ulp of its weight is rounded away; where that is depends on
                     // the weight.
        const auto keptOver = static_cast<int>(std::exp2(bits + 1));
        panel.thresholds = {{1.0 / keptOver, say("kept over 1/%1").arg(keptOver)},
                            {0.5 / keptOver, say("lost under 1/%1").arg(2 * keptOver)}};
    }
    return panel;
}

/// A curve for each of the model's own optimizers.
std::vector<CurveSpec> curvesOfTurns(const RunOutline& outline, const std::string& beginning)
{
    std::vector<CurveSpec> curves;
    for (const auto& own : outline.turns)
        curves.push_back({beginning + own.series, static_cast<int>(curves.size()),
                          QString::fromStdString(own.name), true, false});
    return curves;
}

PanelSpec normPanel(const RunOutline& outline)
{
    PanelSpec panel;
    panel.title = say("Gradient norm");
    const auto over = outline.ranks > 1 ? say("global L2 over %1 ranks").arg(outline.ranks) : say("L2");
    panel.subtitle =
        (outline.scaled ? say("unscaled, log axis, %1") : say("no scale to undo, log axis, %1")).arg(over);
    panel.axis = PanelAxis::Log10;
    panel.height = 188;
    if (!outline.turns.empty()) {
        panel.curves = curvesOfTurns(outline, "grad_norm_");
        return panel;
    }
    if (outline.clip == ClipKind::None) {
        panel.curves = {{"grad_norm", 0, say("norm"), true, false}};
        return panel;
    }
    panel.curves = {{"grad_norm_clipped", 1, say("after clip"), false, false},
                    {"grad_norm", 0, say("before clip"), true, false}};
    if (outline.clip == ClipKind::Norm)
        panel.thresholds = {{outline.clipAt, say("clip at %1").arg(outline.clipAt)}};
    return panel;
}

PanelSpec lossPanel(const RunOutline& outline)
{
    PanelSpec panel;
    panel.title = say("Loss");
    panel.subtitle = say("mean over the step's samples");
    panel.height = 122;
    if (!outline.turns.empty()) {
        panel.curves = curvesOfTurns(outline, "loss_");
        return panel;
    }
    if (outline.validated)
        panel.curves.push_back({"val_loss", 1, say("validation"), false, true});
    panel.curves.push_back({"loss", 2, say("train"), true, false});
    return panel;
}

PanelSpec accuracyPanel()
{
    PanelSpec panel;
    panel.title = say("Accuracy");
    panel.subtitle = say("% of the samples");
    panel.axis = PanelAxis::Percent;
    panel.curves = {{"val_accuracy", 1, say("validation"), false, true},
                    {"accuracy", 2, say("train"), true, false}};
    return panel;
}

PanelSpec learningRatePanel(const RunOutline& outline)
{
    PanelSpec panel;
    panel.title = say("Learning rate");
    if (outline.scaled)
        panel.subtitle =
            outline.holdOnSkip ? say("waits on skipped steps") : say("advances on skipped steps too");
    panel.axis = PanelAxis::LinearFromZero;
    panel.height = 66;
    panel.curves = {{"lr", 3, say("rate"), false, false}};
    return panel;
}

} // namespace

std::vector<PanelSpec> panelsOf(const RunOutline& outline)
{
    std::vector<PanelSpec> panels;
    if (outline.scaled) {
        panels.push_back(lossScalePanel());
    } else if (outline.precision
               == PrecisionMode::Fp8Mixed) { // Its weights are fp32: next to nothing stalls.
        panels.push_back(fp8Panel("Flushed to zero", "% of what the linear layers round to fp8, emulated",
                                  "fp8_flushed", 110));
        panels.push_back(fp8Panel("Saturated", "% at the largest number of fp8", "fp8_saturated", 66));
        panels.push_back(updateRatioPanel(outline));
    } else {
        panels.push_back(stalledPanel());
        panels.push_back(updateRatioPanel(outline));
    }
    panels.push_back(normPanel(outline));
    panels.push_back(lossPanel(outline));
    if (outline.validated)
        panels.push_back(accuracyPanel());
    panels.push_back(learningRatePanel(outline));
    return panels;
}

} // namespace mantissa::ui
