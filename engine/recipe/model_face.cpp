#include "engine/recipe/model_plan.h"

namespace mantissa {

namespace {

struct FaceOf {
    ModelFace operator()(const MlpPlan& plan) const
    {
        return {InputKind::Vectors, plan.inputs, 1, plan.classes};
    }
    ModelFace operator()(const ConvNetPlan& plan) const
    {
        return {InputKind::Images, plan.imageSize, plan.inputChannels, plan.classes};
    }
    ModelFace operator()(const ResNetPlan& plan) const
    {
        return {InputKind::Images, plan.imageSize, plan.inputChannels, plan.classes};
    }
    ModelFace operator()(const TransformerPlan& plan) const
    {
        return {InputKind::Tokens, plan.context, 1, plan.vocab};
    }
    ModelFace operator()(const GanPlan& plan) const { return {InputKind::Vectors, plan.inputs, 1, 0}; }
    ModelFace operator()(const ScriptPlan& plan) const
    {
        return {plan.input, plan.inputs, plan.inputChannels, plan.classes};
    }
};

} // namespace

ModelFace modelFace(const ModelPlan& plan)
{
    return std::visit(FaceOf{}, plan);
}

} // namespace mantissa
