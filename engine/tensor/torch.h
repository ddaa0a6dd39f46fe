#pragma once

// The one door to LibTorch: no other header includes one of its headers, and nothing outside mantissa_engine
// includes this one. It is the precompiled header of mantissa_engine, so including it costs nothing there.

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/native/Resize.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
