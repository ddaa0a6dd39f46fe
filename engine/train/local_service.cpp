#include "engine/train/local_service.h"

#include "engine/tensor/torch.h"
#include "engine/train/verify.h"

namespace mantissa {
namespace {

class LocalService final : public TrainingService {
public:
    EngineReport describe() const override { return {"LibTorch " TORCH_VERSION, "CPU", {}}; }
    Result<std::unique_ptr<TrainingRun>> start(const RunRequest&) override
    {
        return Error{ErrorCode::NotHere, "This engine does not train yet.", {}};
    }
    Result<VerifyReport> verify(const VerifyRequest& request) override { return verifyCase(request); }
};

} // namespace

std::unique_ptr<TrainingService> makeLocalService()
{
    return std::make_unique<LocalService>();
}

} // namespace mantissa
