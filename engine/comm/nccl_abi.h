#pragma once

#include <climits>

#include <cstddef>

// What this engine calls of NCCL and of the CUDA runtime, by their binary interfaces: NCCL keeps its own
// since 2.0, and a structure that grows says its size. So no header of either is needed to compile, and the
// libraries are found when a run asks for them.
namespace mantissa::nccl {

struct UniqueId {
    char bytes[128];
};
using Comm = struct OpaqueComm*;
using Stream = struct OpaqueStream*;

using Status = int;
constexpr Status kSuccess = 0;
constexpr Status kInProgress = 7;

using DataType = int;
constexpr DataType kUint8 = 1;
constexpr DataType kInt64 = 4;
constexpr DataType kFloat16 = 6;
constexpr DataType kFloat32 = 7;
constexpr DataType kFloat64 = 8;
constexpr DataType kBfloat16 = 9;

using Operation = int;
constexpr Operation kSum = 0;
constexpr Operation kMax = 2;

/// As of 2.18; later versions read the first `size` bytes and take defaults for the rest.
struct Config {
    std::size_t size = sizeof(Config);
    unsigned int magic = 0xcafebeef;
    unsigned int version = 21800;
    int blocking = 0;
    int cgaClusterSize = INT_MIN;
    int minCtas = INT_MIN;
    int maxCtas = INT_MIN;
    const char* netName = nullptr;
    int splitShare = INT_MIN;
};
constexpr int kLeastVersion = 21800; ///< ncclCommSplit and its config.

using CudaStatus = int;
constexpr CudaStatus kCudaSuccess = 0;
constexpr CudaStatus kCudaNotReady = 600;
constexpr int kCopyAnyWay = 4; ///< The driver knows from the addresses.
constexpr unsigned int kNonBlockingStream = 1;

struct Functions {
    Status (*ncclGetVersion)(int*);
    Status (*ncclGetUniqueId)(UniqueId*);
    Status (*ncclCommInitRankConfig)(Comm*, int, UniqueId, int, Config*);
    Status (*ncclCommSplit)(Comm, int, int, Comm*, Config*);
    Status (*ncclCommFinalize)(Comm);
    Status (*ncclCommDestroy)(Comm);
    Status (*ncclCommAbort)(Comm);
    Status (*ncclCommGetAsyncError)(Comm, Status*);
    const char* (*ncclGetErrorString)(Status);
    const char* (*ncclGetLastError)(Comm);
    Status (*ncclAllGather)(const void*, void*, std::size_t, DataType, Comm, Stream);
    Status (*ncclReduceScatter)(const void*, void*, std::size_t, DataType, Operation, Comm, Stream);
    Status (*ncclAllReduce)(const void*, void*, std::size_t, DataType, Operation, Comm, Stream);
    Status (*ncclBroadcast)(const void*, void*, std::size_t, DataType, int, Comm, Stream);
    CudaStatus (*cudaGetDeviceCount)(int*);
    CudaStatus (*cudaSetDevice)(int);
    CudaStatus (*cudaStreamCreateWithFlags)(Stream*, unsigned int);
    CudaStatus (*cudaStreamDestroy)(Stream);
    CudaStatus (*cudaStreamQuery)(Stream);
    CudaStatus (*cudaMalloc)(void**, std::size_t);
    CudaStatus (*cudaFree)(void*);
    CudaStatus (*cudaMemcpyAsync)(void*, const void*, std::size_t, int, Stream);
    const char* (*cudaGetErrorString)(CudaStatus);
};

} // namespace mantissa::nccl
