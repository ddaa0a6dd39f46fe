#pragma once

#include "engine/core/result.h"
#include "engine/recipe/run_plan.h"

#include <nlohmann/json.hpp>

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

/// How closely another machine can follow a trace.
enum class TraceGrade { Fp32, Mixed, Half };

/// A recorded training (golden-trace/1) with the plan that repeats it.
struct Trace {
    std::string id;
    bool distributed = false;
    RunPlan plan;
    TraceGrade grade = TraceGrade::Fp32;
    bool chaotic = false; ///< Later steps differ from machine to machine: only the first ones are compared.
    std::filesystem::path finalFile;
    std::vector<std::string> parameters; ///< In param_order.
    nlohmann::json steps; ///< A list of objects, as recorded.
};

/// Reads case.json. Damaged where it is not sound, NotHere where this engine lacks something.
Result<Trace> readTrace(const std::filesystem::path& folder);

/// What the JSON library or a conversion threw about a trace, as a sentence.
std::string traceProblem(const std::exception& error);

/// A number of a trace: NaN and the infinities are strings there. NaN where it is no number at all.
double traceNumber(const nlohmann::json& value);

} // namespace mantissa
