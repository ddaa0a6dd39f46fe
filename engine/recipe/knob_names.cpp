#include "engine/recipe/knob_names.h"

#include "engine/recipe/field.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

/// Words with spaces between; "*" stands for any, where a class hands on what it does not know.
struct KnobFamily {
    std::string_view head;
    std::string_view words;
};

constexpr std::array kFamilies = {
    KnobFamily{"", "seed cli scaler"},
    KnobFamily{"plugins", "precision checkpoint_io cluster_environment layer_sync extra"},
    KnobFamily{
        "module",
        "automatic_optimization num_optimizers num_lr_schedulers overrides omits manual_calls compiled "
        "wraps_fsdp meta_parameters reset_parameters tied_parameters unused_parameters "
        "has_checkpointed_layers has_te_layers has_linear_layers linear_shapes lazy_parameters "
        "eval_submodules step_signature training_step_output training_step_returns_none "
        "reads_device_mesh_early strict_loading hparams example_input_array fields logs_train logs_val "
        "log_kwargs log_prog_bar has_batchnorm has_backbone parallelize optimizer_return "
        "optimizer_extra_keys optimizer_step_skips_closure"},
    KnobFamily{"module.optimizer",
               "class fused foreach eps momentum params_source duplicate_group_names lr weight_decay"},
    KnobFamily{"module.lr_scheduler",
               "class config interval frequency monitor strict extra_keys omit_scheduler foreign"},
    KnobFamily{"module.clip_gradients", "val algorithm"},
    KnobFamily{"data",
               "length batch_size iterable iterable_has_len dataset_has_len shuffle shuffle_eval drop_last "
               "sampler num_workers persistent_workers pin_memory has_val_loader num_eval_loaders "
               "combined_loader_mode eval_combined_mode source from_field datamodule_overrides "
               "datamodule_hparams stateful train_loader"},
    KnobFamily{"run",
               "fn before_fit fit_count repeat model dataloaders datamodule ckpt_path weights_only strict "
               "return_predictions init_module empty_init storage_options save_checkpoint "
               "save_checkpoint_early checkpoint_path real_ranks reads_device_early reduce_op"},
    KnobFamily{"env",
               "num_gpus interactive mps_available cuda_available tpu_available gpu_arch cpu_count packages "
               "vars os start_methods torch_version torch_distributed float32_matmul_precision "
               "cuda_initialized main_guard"},
    KnobFamily{"fabric", "cli clip_val max_norm save_filter state setup_order no_backward_sync"},
    KnobFamily{"cli", "args optimizers save_config_callback save_config_kwargs trainer_class"},
    KnobFamily{"tuner", "lr_find scale_batch_size pass_train"},
    KnobFamily{"tuner.lr_find",
               "min_lr max_lr num_training mode early_stop_threshold update_attr attr_name "
               "method train_dataloaders val_dataloaders dataloaders datamodule"},
    KnobFamily{"tuner.scale_batch_size",
               "mode steps_per_trial init_val max_trials batch_arg_name margin max_val method"},
    KnobFamily{"profiler.SimpleProfiler", "dirpath filename extended"},
    KnobFamily{"profiler.AdvancedProfiler", "dirpath filename line_count_restriction dump_stats"},
    KnobFamily{"profiler.PyTorchProfiler", "*"},
    KnobFamily{"profiler.XLAProfiler", "port"},
    KnobFamily{"logger.CSVLogger", "save_dir name version prefix flush_logs_every_n_steps"},
    KnobFamily{"logger.TensorBoardLogger", "*"},
    KnobFamily{"logger.WandbLogger", "*"},
    KnobFamily{"logger.MLFlowLogger", "*"},
    KnobFamily{"logger.CometLogger", "*"},
    KnobFamily{"logger.NeptuneLogger", "*"},
    KnobFamily{"strategy",
               "accelerator precision_plugin checkpoint_io cluster_environment parallel_devices "
               "process_group_backend"},
    KnobFamily{"strategy.ddp", "*"}, // What is not its own goes to torch's DistributedDataParallel,
    KnobFamily{"strategy.fsdp", "*"}, // and here to FullyShardedDataParallel.
    KnobFamily{"strategy.xla", "*"},
    KnobFamily{"strategy.xla_fsdp", "*"},
    KnobFamily{"strategy.deepspeed.config", "*"},
    KnobFamily{"strategy.deepspeed",
               "zero_optimization stage remote_device offload_optimizer offload_parameters "
               "offload_params_device nvme_path params_buffer_count params_buffer_size max_in_cpu "
               "offload_optimizer_device optimizer_buffer_count block_size queue_depth single_submit "
               "overlap_events thread_count pin_memory sub_group_size contiguous_gradients overlap_comm "
               "allgather_partitions reduce_scatter allgather_bucket_size reduce_bucket_size "
               "zero_allow_untested_optimizer logging_batch_size_per_gpu config logging_level "
               "loss_scale initial_scale_power loss_scale_window hysteresis min_loss_scale "
               "partition_activations cpu_checkpointing contiguous_memory_optimization "
               "synchronize_checkpoint_boundary load_full_weights exclude_frozen_parameters timeout"},
    KnobFamily{"strategy.model_parallel",
               "data_parallel_size tensor_parallel_size save_distributed_checkpoint timeout"},
    KnobFamily{"strategy.single_device", "device"},
    KnobFamily{"callback.BackboneFinetuning",
               "unfreeze_backbone_at_epoch lambda_func backbone_initial_ratio_lr backbone_initial_lr "
               "should_align initial_denom_lr train_bn verbose rounding"},
    KnobFamily{"callback.BaseFinetuning", ""},
    KnobFamily{"callback.BasePredictionWriter", "write_interval hooks"},
    KnobFamily{"callback.BatchSizeFinder",
               "mode steps_per_trial init_val max_trials batch_arg_name margin max_val"},
    KnobFamily{"callback.DeviceStatsMonitor", "cpu_stats filter_keys"},
    KnobFamily{"callback.EMAWeightAveraging", "*"}, // The rest goes to torch's AveragedModel.
    KnobFamily{"callback.EarlyStopping",
               "monitor min_delta patience verbose mode strict check_finite stopping_threshold "
               "divergence_threshold check_on_train_epoch_end log_rank_zero_only"},
    KnobFamily{"callback.GradientAccumulationScheduler", "scheduling"},
    KnobFamily{"callback.LambdaCallback", "*"},
    KnobFamily{"callback.LearningRateFinder",
               "min_lr max_lr num_training_steps mode early_stop_threshold update_attr attr_name "
               "weights_only"},
    KnobFamily{"callback.LearningRateMonitor",
               "logging_interval log_momentum log_weight_decay log_key_prefix"},
    KnobFamily{
        "callback.ModelCheckpoint",
        "dirpath filename monitor verbose save_last save_top_k save_on_exception save_weights_only mode "
        "auto_insert_metric_name every_n_train_steps train_time_interval every_n_epochs "
        "save_on_train_epoch_end enable_version_counter"},
    KnobFamily{"callback.ModelPruning",
               "pruning_fn parameters_to_prune parameter_names use_global_unstructured amount apply_pruning "
               "make_pruning_permanent use_lottery_ticket_hypothesis resample_parameters pruning_dim "
               "pruning_norm verbose prune_on_train_epoch_end"},
    KnobFamily{"callback.ModelSummary", "*"},
    KnobFamily{"callback.OnExceptionCheckpoint", "dirpath filename"},
    KnobFamily{"callback.RichModelSummary", "*"},
    KnobFamily{"callback.RichProgressBar", "refresh_rate leave theme console_kwargs"},
    KnobFamily{"callback.SaveConfigCallback", "*"},
    KnobFamily{"callback.ServableModuleValidator", "optimization server host port timeout exit_on_failure"},
    KnobFamily{"callback.SpikeDetection", "mode window warmup atol rtol exclude_batches_path finite_only"},
    KnobFamily{"callback.StochasticWeightAveraging",
               "swa_lrs swa_epoch_start annealing_epochs annealing_strategy avg_fn device"},
    KnobFamily{"callback.TQDMProgressBar", "refresh_rate process_position leave"},
    KnobFamily{"callback.ThroughputMonitor",
               "batch_size_fn length_fn window_size separator using_sparse_model "
               "sparse_cuda_acceleration_factor available_flops world_size"},
    KnobFamily{"callback.Timer", "duration interval verbose"},
    KnobFamily{"callback.WeightAveraging", "*"},
};

bool holds(std::string_view words, std::string_view word)
{
    for (std::size_t begin = 0; begin < words.size();) {
        const auto end = std::min(words.find(' ', begin), words.size());
        if (words.substr(begin, end - begin) == word)
            return true;
        begin = end + 1;
    }
    return words == "*";
}

/// "callback.Timer#2.interval" without the number of the instance.
std::string withoutNumber(std::string_view knob)
{
    const auto hash = knob.find('#');
    if (hash == std::string_view::npos)
        return std::string(knob);
    const auto end = std::min(knob.find_first_not_of("0123456789", hash + 1), knob.size());
    return std::string(knob.substr(0, hash)) + std::string(knob.substr(end));
}

bool isOfField(const std::string& knob)
{
    return std::any_of(allFields().begin(), allFields().end(), [&](const Field* field) {
        const bool isClass = knob.starts_with("callback.") && field->knob.starts_with(knob + ".");
        return !field->knob.empty() && (field->knob == knob || isClass);
    });
}

} // namespace

bool isKnownKnob(std::string_view written)
{
    const auto knob = withoutNumber(written);
    if (isOfField(knob))
        return true;
    return std::any_of(kFamilies.begin(), kFamilies.end(), [&](const KnobFamily& family) {
        const std::string head = family.head.empty() ? "" : std::string(family.head) + ".";
        const bool isClass = head.starts_with("callback.") && family.head == knob;
        return isClass
            || (knob.starts_with(head) && holds(family.words, std::string_view(knob).substr(head.size())));
    });
}

} // namespace mantissa
