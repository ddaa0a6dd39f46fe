#pragma once

#include "engine/core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// What is known of one error of a library: its words, where it is raised, when that happens, what helps. The
/// fields are those of error records with schemaVersion 2; `rules` and `article` are ours.
struct ErrorRecord {
    std::string id;
    std::string repo;
    std::string version; ///< That the place was read in.
    std::string slug;
    std::string errorClass;
    std::string errorMessage;
    std::string messagePattern; ///< ECMAScript regular expression.
    std::string severity;
    std::string filePath;
    int lineNumber = 0;
    std::string documentation;
    std::vector<std::string> triggerScenarios;
    std::vector<std::string> commonSituations;
    std::vector<std::string> solutions; ///< Best first.
    std::vector<std::string> preventionTips;
    std::vector<std::string> tags;
    std::vector<std::string> rules; ///< Ids of the rules that find it before it happens.
    std::string article; ///< Of the knowledge page; may be empty.
};

/// One record from its JSON, bare or as the value of "record". Lists may also be single strings.
Result<ErrorRecord> readErrorRecord(std::string_view json);

} // namespace mantissa
