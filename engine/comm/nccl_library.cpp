#include "engine/comm/nccl_library.h"

#include "engine/core/listed.h"

#include <array>
#include <dlfcn.h>

namespace mantissa {
namespace {

struct Opened {
    void* handle = nullptr;
    std::string name;
};

Opened openFirst(const std::vector<std::string>& names)
{
    for (const auto& name : names) {
        if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
            return {handle, name};
    }
    return {};
}

template <typename Function>
bool bind(void* handle, const char* name, Function& function)
{
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
}

// The first name that the library lacks; null: it has them all.
const char* bindCuda(void* handle, nccl::Functions& f)
{
    const bool bound = bind(handle, "cudaGetDeviceCount", f.cudaGetDeviceCount)
        && bind(handle, "cudaSetDevice", f.cudaSetDevice)
        && bind(handle, "cudaStreamCreateWithFlags", f.cudaStreamCreateWithFlags)
        && bind(handle, "cudaStreamDestroy", f.cudaStreamDestroy)
        && bind(handle, "cudaStreamQuery", f.cudaStreamQuery) && bind(handle, "cudaMalloc", f.cudaMalloc)
        && bind(handle, "cudaFree", f.cudaFree) && bind(handle, "cudaMemcpyAsync", f.cudaMemcpyAsync)
        && bind(handle, "cudaGetErrorString", f.cudaGetErrorString);
    return bound ? nullptr : "the functions of the CUDA runtime";
}

const char* bindNccl(void* handle, nccl::Functions& f)
{
    const bool bound = bind(handle, "ncclGetVersion", f.ncclGetVersion)
        && bind(handle, "ncclGetUniqueId", f.ncclGetUniqueId)
        && bind(handle, "ncclCommInitRankConfig", f.ncclCommInitRankConfig)
        && bind(handle, "ncclCommSplit", f.ncclCommSplit)
        && bind(handle, "ncclCommFinalize", f.ncclCommFinalize)
        && bind(handle, "ncclCommDestroy", f.ncclCommDestroy)
        && bind(handle, "ncclCommAbort", f.ncclCommAbort)
        && bind(handle, "ncclCommGetAsyncError", f.ncclCommGetAsyncError)
        && bind(handle, "ncclGetErrorString", f.ncclGetErrorString)
        && bind(handle, "ncclGetLastError", f.ncclGetLastError)
        && bind(handle, "ncclAllGather", f.ncclAllGather)
        && bind(handle, "ncclReduceScatter", f.ncclReduceScatter)
        && bind(handle, "ncclAllReduce", f.ncclAllReduce) && bind(handle, "ncclBroadcast", f.ncclBroadcast);
    return bound ? nullptr : "functions of NCCL 2.18";
}

} // namespace

std::string ncclVersionText(int version)
{
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "."
        + std::to_string(version % 100);
}

NcclFound NcclLibrary::load(const NcclNames& names)
{
    NcclFound found;
    const auto give = [&](std::string problem) {
        found.problem = std::move(problem);
        return found;
    };
    const Opened cuda = openFirst(names.cuda);
    const Opened nccl = openFirst(names.nccl);
    found.cuda = cuda.name;
    found.nccl = nccl.name;
    if (!cuda.handle)
        return give("no CUDA runtime was found (" + listed(names.cuda) + ")");
    if (const char* lacking = bindCuda(cuda.handle, m_functions))
        return give(cuda.name + " lacks " + lacking);
    if (m_functions.cudaGetDeviceCount(&m_gpus) != nccl::kCudaSuccess)
        m_gpus = 0;
    found.gpus = m_gpus;
    if (nccl.handle && bind(nccl.handle, "ncclGetVersion", m_functions.ncclGetVersion))
        (void)m_functions.ncclGetVersion(&found.version);
    if (m_gpus == 0)
        return give("no NVIDIA GPU was found");
    if (!nccl.handle)
        return give("no NCCL was found (" + listed(names.nccl) + ")");
    if (found.version < nccl::kLeastVersion)
        return give("NCCL " + ncclVersionText(found.version) + " is older than "
                    + ncclVersionText(nccl::kLeastVersion));
    if (const char* lacking = bindNccl(nccl.handle, m_functions))
        return give(nccl.name + " lacks " + lacking);
    return found;
}

NcclFound NcclLibrary::find(const NcclNames& names)
{
    NcclLibrary library;
    return library.load(names);
}

Result<std::shared_ptr<const NcclLibrary>> NcclLibrary::open(const NcclNames& names)
{
    std::shared_ptr<NcclLibrary> library(new NcclLibrary);
    const auto found = library->load(names);
    if (!found.problem.empty())
        return Error{ErrorCode::NotHere, "NCCL cannot carry data here: " + found.problem + ".",
                     "Set mantissa.communicator to threads."};
    return std::shared_ptr<const NcclLibrary>(std::move(library));
}

} // namespace mantissa
