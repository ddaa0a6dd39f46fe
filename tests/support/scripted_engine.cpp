// A plug-in with the scripted service: MANTISSA_ENGINE names it where a test wants the whole command line
// without LibTorch. MANTISSA_SCRIPT changes the script: "steps=50 per_step_ms=20 fail_at=10 verify=outside".
#include "tests/support/scripted_service.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

namespace {

mantissa::ShadowReport scriptedShadow(bool skipped)
{
    using namespace mantissa;
    ShadowReport report;
    report.step = 3;
    report.batches = {3};
    report.loss = 2.5;
    report.loss32 = 2.25;
    report.lossScale = 1024.0;
    report.skipped = skipped;
    report.rows = {{"fc1", "activation", "fp16", 8, 0.125, 0.25, 0.0, std::nullopt},
                   {"fc1", "weight gradient", "fp32", 8, std::nan(""), 0.0, 0.5, std::nullopt}};
    if (!skipped)
        report.rows.push_back({"fc1", "update", "fp32", 8, 0.0625, 0.0, 0.0, 0.75});
    return report;
}

void apply(mantissa::test::RunScript& script, const std::string& name, const std::string& value)
{
    using namespace mantissa;
    if (name == "steps")
        script.steps = std::stoll(value);
    else if (name == "per_step_ms")
        script.perStep = std::chrono::milliseconds(std::stoll(value));
    else if (name == "start" && value == "throws")
        script.throws = true;
    else if (name == "stop" && value == "ignored")
        script.ignoresStop = true;
    else if (name == "fail_at")
        script.failAt = std::stoll(value);
    else if (name == "shadow" && value == "missing")
        script.shadow = Error{ErrorCode::NotHere, "Another run is still training.", "Wait for its end."};
    else if (name == "shadow")
        script.shadow = scriptedShadow(value == "skipped");
    else if (name == "verify" && value == "missing")
        script.verdict = Error{ErrorCode::NotHere, "the case needs 8-bit Adam", {}};
    else if (name == "verify")
        script.verdict = VerifyReport{{},
                                      value == "inside",
                                      false,
                                      {{"loss", 3e-7, "relative", 1e-4, 12, true},
                                       {"params", 0.5, "relative L2", 1e-3, 49, value == "inside"}}};
}

} // namespace

extern "C" __attribute__((visibility("default"))) mantissa::TrainingService* mantissaMakeTrainingService()
{
    mantissa::test::RunScript script;
    const char* changes = std::getenv("MANTISSA_SCRIPT");
    std::istringstream words(changes ? changes : "");
    for (std::string word; words >> word;)
        apply(script, word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    return std::make_unique<mantissa::test::ScriptedService>(script).release();
}
