#include "engine/train/local_service.h"

#include "engine/core/counted.h"
#include "engine/core/guarded.h"
#include "engine/train/session_environment.h"
#include "engine/train/shadow.h"
#include "engine/train/verify.h"

#include <optional>
#include <utility>

namespace mantissa {
namespace {

class LocalService final : public TrainingService {
public:
    explicit LocalService(SessionOptions options) : m_options(std::move(options)) {}

    EngineReport describe() const override { return describeEngine(); }

    Result<std::unique_ptr<TrainingRun>> start(const RunRequest& request) override
    {
        if (auto busy = whyBusy())
            return *std::move(busy);
        return guarded("starting the run", [&] { return startSession(request, m_options, m_load); });
    }

    Result<VerifyReport> verify(const VerifyRequest& request) override
    {
        return guarded("verifying the case", [&] { return verifyCase(request); });
    }

    Result<ShadowReport> shadow(const ShadowRequest& request) override
    {
        if (auto busy = whyBusy())
            return *std::move(busy);
        return guarded("the shadow step", [&] { return shadowStep(request); });
    }

private:
    std::optional<Error> whyBusy() const
    {
        // LibTorch keeps one thread count for the whole process: a second run would change the first one's
        // arithmetic.
        if (m_load->runs.load() > 0)
            return Error{ErrorCode::NotHere, "Another run is still training.",
                         "Wait for its end, or stop it."};
        if (const int stuck = m_load->ranks.load(); stuck > 0)
            return Error{ErrorCode::NotHere,
                         counted(stuck, "rank") + " of the run before never came back and still compute"
                             + (stuck == 1 ? "s." : "."),
                         "Wait until it is through, or close the program and open it again."};
        return std::nullopt;
    }

    const SessionOptions m_options;
    const std::shared_ptr<EngineLoad> m_load = std::make_shared<EngineLoad>();
};

} // namespace

std::unique_ptr<TrainingService> makeLocalService()
{
    return makeLocalService(SessionOptions{});
}

std::unique_ptr<TrainingService> makeLocalService(const SessionOptions& options)
{
    return std::make_unique<LocalService>(options);
}

} // namespace mantissa
