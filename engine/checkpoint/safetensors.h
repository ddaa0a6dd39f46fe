#pragma once

#include "engine/core/result.h"
#include "engine/tensor/torch.h"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// All tensors of a file, in the order of their data. Damaged where the file is not sound.
Result<NamedTensors> readSafetensors(const std::filesystem::path& file);

/// Writes a whole new file. Not atomic: who needs that writes aside and renames.
Result<void> writeSafetensors(const std::filesystem::path& file, const NamedTensors& tensors,
                              const std::map<std::string, std::string>& metadata = {});

/// The tensor of that name, or an undefined one.
at::Tensor tensorNamed(const NamedTensors& tensors, std::string_view name);

} // namespace mantissa
