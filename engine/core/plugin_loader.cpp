#include "engine/core/training_service.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace mantissa {
namespace {

/// MANTISSA_ENGINE where it is set (an engine built otherwise), else the file beside the program.
std::filesystem::path usualPlace()
{
    const char* chosen = std::getenv("MANTISSA_ENGINE"); // NOLINT(concurrency-mt-unsafe)
    if (chosen && *chosen)
        return chosen;
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    return program.parent_path() / "libmantissa_engine.so";
}

} // namespace

Result<std::unique_ptr<TrainingService>> loadTrainingService(const std::filesystem::path& plugin)
{
    const auto path = plugin.empty() ? usualPlace() : plugin;
    // Never closed: LibTorch's threads and registrations do not survive dlclose.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* reason = dlerror();
        return Error{ErrorCode::NotHere,
                     "The training engine cannot be loaded: " + std::string(reason ? reason : path.string()),
                     "Run packaging/run --build-only: it fetches LibTorch and builds the engine."};
    }
    using Factory = TrainingService* (*)();
    const auto factory = reinterpret_cast<Factory>(dlsym(library, "mantissaMakeTrainingService"));
    if (!factory)
        return Error{ErrorCode::NotHere, path.string() + " is not a Mantissa engine.",
                     "Build it again: packaging/run --build-only."};
    return std::unique_ptr<TrainingService>(factory());
}

} // namespace mantissa
