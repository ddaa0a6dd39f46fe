#include "app/cli/finding_lines.h"

#include "app/cli/printable.h"
#include "engine/rules/text_findings.h"

namespace mantissa::cli {

std::string findingText(const Finding& finding)
{
    return printable(severityWords(finding.severity, finding.stage) + ": " + finding.message + " ["
                     + finding.rule + "]");
}

void printFinding(std::FILE* to, const Finding& finding, const SetupArgument& setup)
{
    const SourcePoint place = placeOf(finding, setup.file);
    std::fprintf(to, "%s:%zu:%zu: %s\n", printable(setup.path).c_str(), place.line, place.column,
                 findingText(finding).c_str());
    for (const Fix& fix : finding.fixes)
        std::fprintf(to, "  %s: %s\n", std::string(fixGradeId(fix.grade)).c_str(),
                     printable(fix.title).c_str());
}

} // namespace mantissa::cli
