#pragma once

// What the stand-in for NCCL and the CUDA runtime lets a test decide. Loaded with dlopen, so by function
// pointers.
extern "C" {

struct StandIn {
    void (*reset)(int gpus); ///< That many GPUs, no faults.
    void (*failAt)(int rank, int call,
                   int status); ///< That rank's collective with that number, from 0, fails.
    void (*failLater)(int rank, int call, int status); ///< It begins well, and fails in the background.
    int (*communicators)(); ///< Made and not yet given back.
    int (*buffers)(); ///< Device memory not yet given back.
};

StandIn standIn();
}
