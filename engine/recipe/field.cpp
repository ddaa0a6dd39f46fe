#include "engine/recipe/field.h"

#include "engine/recipe/fields.h"
#include "engine/recipe/flow_value.h"
#include "engine/recipe/scalar.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

// One line per topic and header; forms show fields in this order.
constexpr std::array kFields = {
    &field::seed,
    &field::precision,
    &field::strategy,
    &field::accelerator,
    &field::devices,
    &field::numNodes,
    &field::maxEpochs,
    &field::maxSteps,
    &field::minEpochs,
    &field::minSteps,
    &field::maxTime,
    &field::fastDevRun,
    &field::limitTrainBatches,
    &field::limitValBatches,
    &field::limitTestBatches,
    &field::limitPredictBatches,
    &field::overfitBatches,
    &field::valCheckInterval,
    &field::checkValEveryNEpoch,
    &field::numSanityValSteps,
    &field::reloadDataloaders,
    &field::useDistributedSampler,
    &field::accumulate,
    &field::clipValue,
    &field::clipAlgorithm,
    &field::syncBatchnorm,
    &field::deterministic,
    &field::benchmark,
    &field::inferenceMode,
    &field::detectAnomaly,
    &field::barebones,
    &field::profiler,
    &field::logger,
    &field::logEveryNSteps,
    &field::enableCheckpointing,
    &field::enableProgressBar,
    &field::enableModelSummary,
    &field::defaultRootDir,
    &field::autologHparams,
    &field::modelRegistry,
    &field::callbacks,
    &field::plugins,
    &field::fsdpShardingStrategy,
    &field::fsdpStateDictType,
    &field::fsdpCpuOffload,
    &field::fsdpUseOrigParams,
    &field::fsdpAutoWrapPolicy,
    &field::fsdpMixedPrecision,
    &field::fsdpParamDtype,
    &field::fsdpReduceDtype,
    &field::fsdpActivationCheckpointing,
    &field::fsdpActivationCheckpointingPolicy,
    &field::fsdpDeviceMesh,
    &field::fsdpProcessGroup,
    &field::fsdpBackwardPrefetch,
    &field::fsdpForwardPrefetch,
    &field::fsdpLimitAllGathers,
    &field::shardWrap,
    &field::shardLeastUnit,
    &field::shardParamDtype,
    &field::shardReduceDtype,
    &field::shardOutputDtype,
    &field::shardCastInputs,
    &field::shardReshard,
    &field::shardMesh,
    &field::frozen,
    &field::recompute,
    &field::communicator,
    &field::ddpFindUnused,
    &field::ddpStaticGraph,
    &field::ddpBucketCap,
    &field::ddpGradientViews,
    &field::ddpBroadcastBuffers,
    &field::ddpCommHook,
    &field::ddpStartMethod,
    &field::ddpModelAveraging,
    &field::deepspeedStage,
    &field::deepspeedOffloadOptimizer,
    &field::deepspeedConfig,
    &field::modelParallelData,
    &field::modelParallelTensor,
    &field::singleDevice,
    &field::strategyAccelerator,
    &field::strategyPrecisionPlugin,
    &field::strategyCheckpointIo,
    &field::strategyClusterEnvironment,
    &field::strategyParallelDevices,
    &field::strategyBackend,
    &field::fsdpScaler,
    &field::ampScaler,
    &field::optimizerClass,
    &field::learningRate,
    &field::fused,
    &field::foreach,
    &field::betas,
    &field::eps,
    &field::weightDecay,
    &field::momentum,
    &field::dampening,
    &field::nesterov,
    &field::amsgrad,
    &field::maximize,
    &field::scheduleClass,
    &field::scheduleWarmup,
    &field::scheduleTotal,
    &field::scheduleMinRatio,
    &field::scheduleStepSize,
    &field::scheduleGamma,
    &field::scheduleInterval,
    &field::scheduleOnSkip,
    &field::scheduleFrequency,
    &field::scheduleMonitor,
    &field::scheduleStrict,
    &field::modelClass,
    &field::modelInputs,
    &field::modelHidden,
    &field::modelClasses,
    &field::modelLayers,
    &field::modelChannels1,
    &field::modelChannels2,
    &field::modelImageSize,
    &field::modelBatchNorm,
    &field::modelVocab,
    &field::modelContext,
    &field::modelWidth,
    &field::modelHeads,
    &field::modelDropout,
    &field::modelTiedHead,
    &field::modelAttention,
    &field::dataClass,
    &field::batchSize,
    &field::dataFolder,
    &field::dataFile,
    &field::dataContext,
    &field::dataShape,
    &field::dataInputs,
    &field::dataClasses,
    &field::dataSamples,
    &field::dataInitFile,
    &field::dataBatchesPerEpoch,
    &field::accumulationSchedule,
    &field::earlyStoppingMonitor,
    &field::earlyStoppingPatience,
    &field::checkpointMonitor,
    &field::checkpointMode,
    &field::checkpointEvery,
    &field::checkpointSaveTopK,
    &field::swaLrs,
    &field::emaDecay,
    &field::lrMonitorInterval,
    &field::target,
    &field::mode,
    &field::ranks,
    &field::threads,
    &field::keepCheckpoints,
    &field::rewindEvery,
    &field::fabricMaxNorm,
    &field::fabricClipValue,
    &field::normType,
    &field::fabricErrorIfNonfinite,
    &field::fabricSetupOrder,
    &field::fabricState,
    &field::fabricNoBackwardSync,
    &field::fabricCli,
    &field::fabricSaveFilter,
    &field::scalerInitScale,
    &field::scalerGrowthFactor,
    &field::scalerBackoffFactor,
    &field::scalerGrowthInterval,
    &field::explicitUnscale,
    &field::noSync,
    &field::lastWindow,
    &field::inject,
    &field::suppress,
    &field::notes,
    &field::automaticOptimization,
    &field::overrides,
    &field::ownClipping,
    &field::numOptimizers,
    &field::numSchedules,
    &field::optimizerMade,
    &field::paramsSource,
    &field::metaParameters,
    &field::resetParameters,
    &field::wrapsFsdp,
    &field::severalFsdpModels,
    &field::selfUnscaling,
    &field::tiedParameters,
    &field::unusedParameters,
    &field::compiled,
    &field::hasBatchnorm,
    &field::trainingStepOutput,
    &field::manualCalls,
    &field::scalerObject,
    &field::dataLength,
    &field::dataIterable,
    &field::dataSampler,
    &field::hasValLoader,
    &field::runFn,
    &field::runCkptPath,
    &field::envGpus,
    &field::envPackages,
    &field::envVars,
    &field::envInteractive,
};

} // namespace

bool Field::isTakenBy(std::string_view className) const
{
    if (classes.empty())
        return true;
    for (auto at = classes.find(className); at != std::string_view::npos;
         at = classes.find(className, at + 1)) {
        const auto end = at + className.size();
        if ((at == 0 || classes[at - 1] == ' ') && (end == classes.size() || classes[end] == ' '))
            return true;
    }
    return false;
}

Value Field::defaultValue() const
{
    if (fallback.empty())
        return {};
    // Rules and plans ask for defaults many times over; only lists and maps need the whole reader.
    const bool plain = std::string_view("[{\"'").find(fallback.front()) == std::string_view::npos;
    return plain ? resolveScalar(fallback) : readFlowValue(fallback);
}

std::span<const Field* const> allFields()
{
    return kFields;
}

const Field* fieldAt(std::string_view path)
{
    const auto* found =
        std::find_if(kFields.begin(), kFields.end(), [&](const auto* f) { return f->path == path; });
    return found == kFields.end() ? nullptr : *found;
}

const Field* fieldOfKnob(std::string_view knob)
{
    if (knob.empty())
        return nullptr;
    const auto* found =
        std::find_if(kFields.begin(), kFields.end(), [&](const auto* f) { return f->knob == knob; });
    return found == kFields.end() ? nullptr : *found;
}

} // namespace mantissa
