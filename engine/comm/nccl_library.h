#pragma once

#include "engine/comm/nccl_abi.h"
#include "engine/core/result.h"

#include <memory>
#include <string>
#include <vector>

namespace mantissa {

/// Names under which the libraries are looked for, in this order.
struct NcclNames {
    std::vector<std::string> nccl = {"libnccl.so.2", "libnccl.so"};
    std::vector<std::string> cuda = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
};

/// What was found here, for `doctor` and for the message where a run cannot start.
struct NcclFound {
    std::string nccl; ///< The library; empty: none.
    int version = 0; ///< 22809 is 2.28.9.
    std::string cuda;
    int gpus = 0;
    std::string problem; ///< Why NCCL cannot be used here; empty: it can.
};

/// NCCL and the CUDA runtime, loaded when a run asks for them and never unloaded.
class NcclLibrary {
public:
    /// NotHere where a library, a function of it or a GPU is missing.
    static Result<std::shared_ptr<const NcclLibrary>> open(const NcclNames& names = {});
    static NcclFound find(const NcclNames& names = {});

    const nccl::Functions& call() const { return m_functions; }
    int gpus() const { return m_gpus; }

private:
    NcclLibrary() = default;

    NcclFound load(const NcclNames& names);

    nccl::Functions m_functions{};
    int m_gpus = 0;
};

/// "2.28.9"
std::string ncclVersionText(int version);

} // namespace mantissa
