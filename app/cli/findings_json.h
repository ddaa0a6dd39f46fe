#pragma once

#include "app/cli/json_text.h"
#include "engine/rules/findings_json.h"

namespace mantissa::cli {

using mantissa::jsonOf;

} // namespace mantissa::cli
