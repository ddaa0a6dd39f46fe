#pragma once

#include "engine/recipe/setup.h"
#include "engine/recipe/stage.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class Severity { WontStart, Stops, Differs, Wasteful, Info };

constexpr bool isError(Severity severity)
{
    return severity <= Severity::Stops;
}
std::string_view severityId(Severity severity); ///< "wont_start"
/// "Will not start", "Will stop at step 1, at Unscale": what happens, in words.
std::string severityWords(Severity severity, Stage stage);

/// Safe: same algorithm and hyper-parameters, at most the last bits differ. Changes: the numbers or the
/// set-up change. Manual: words or code, no edits.
enum class FixGrade { Safe, Changes, Manual };
std::string_view fixGradeId(FixGrade grade);

struct Fix {
    std::string title;
    FixGrade grade = FixGrade::Safe;
    std::vector<Edit> edits;
    std::string text; ///< Code or explanation; what it costs.
    std::vector<std::string>
        clears; ///< Rules whose findings go away. Computed by applying and checking again.
    std::vector<std::string> raises; ///< Rules that then find something new. Computed as well.
};

struct FindingSource {
    std::string project; ///< "pytorch-lightning"
    std::string version; ///< "2.6.6"
    std::string where; ///< File and line, issue, or section.
};

/// What a rule has to say about a set-up, at its place.
struct Finding {
    std::string rule;
    Severity severity = Severity::Info;
    Stage stage = Stage::Configure;
    std::vector<std::string> paths; ///< The settings that cause it, most to blame first.
    std::string message; ///< One sentence with the values in it.
    std::string why;
    FindingSource source;
    std::string engine; ///< What this engine does in that place: "same", "better: …", "cannot".
    std::string raises; ///< The target's exception class and words, where it has one: "RuntimeError: …".
    std::vector<Fix> fixes; ///< Safe first.
};

} // namespace mantissa
