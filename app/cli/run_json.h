#pragma once

#include "app/cli/json_text.h"
#include "engine/history/run_reader.h"

namespace mantissa::cli {

/// "finished", "finished, 12 records lost"
std::string stateWords(const RunSummaryRow& row);
/// A run as `runs` lists it and `show` begins. A run that cannot be read has the state "damaged", "newer" or
/// "unreadable", an `error` and a `hint`, and null for all that is not known of it; one of another host that
/// has not ended has the state "silent" and `silent_s`.
Json runJson(const RunSummaryRow& row);
Json seriesJson(const SeriesPoints& points);
Json eventJson(const RunEvent& event);
Json checkpointJson(const CheckpointRecord& checkpoint);

} // namespace mantissa::cli
