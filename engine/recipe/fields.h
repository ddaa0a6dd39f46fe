#pragma once

#include "engine/recipe/fields_batches.h"
#include "engine/recipe/fields_callbacks.h"
#include "engine/recipe/fields_facts.h"
#include "engine/recipe/fields_flags.h"
#include "engine/recipe/fields_fsdp.h"
#include "engine/recipe/fields_loops.h"
#include "engine/recipe/fields_model.h"
#include "engine/recipe/fields_optimizer.h"
#include "engine/recipe/fields_run.h"
#include "engine/recipe/fields_scaler.h"
#include "engine/recipe/fields_schedule.h"
#include "engine/recipe/fields_sharding.h"
#include "engine/recipe/fields_strategy.h"
#include "engine/recipe/fields_surroundings.h"
#include "engine/recipe/fields_trainer.h"

// Every setting has one descriptor in namespace mantissa::field; read it as setup[field::precision].
