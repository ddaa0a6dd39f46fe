#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mantissa {

enum class WireType : std::uint8_t { F32, F64, BF16, F16, I64, U8 };
enum class ReduceOp : std::uint8_t { Sum, Max };

std::size_t wireSize(WireType type);
std::string_view wireName(WireType type);

/// A collective that ended early: abort, time-out or ranks that called different collectives.
/// Lives inside the engine only; the session turns it into an Error.
struct CommError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The collectives of one rank, on raw memory. All ranks make the same calls in the same order, each from one
/// thread. Sums go in rank order and 16-bit sums are added up in fp32, so that results are the same bits
/// every run; in a Max a NaN wins.
class Communicator {
public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    /// `in`: count elements; `out`: size() × count, in rank order. `in` may be its own part of `out`.
    virtual void allGather(const void* in, void* out, std::size_t count, WireType type) = 0;
    /// `in`: size() × count elements; `out`: this rank's count elements of the sum.
    virtual void reduceScatter(const void* in, void* out, std::size_t count, WireType type) = 0;
    virtual void allReduce(void* buffer, std::size_t count, WireType type, ReduceOp op) = 0;
    virtual void broadcast(void* buffer, std::size_t bytes, int root) = 0;
    virtual void barrier() = 0;

    /// A communicator among the ranks that name the same colour, in the order of their ranks here. A
    /// collective. It ends before this one does; an abort of the one is an abort of the other.
    virtual std::unique_ptr<Communicator> split(int colour) = 0;

    /// Wakes every rank that waits, with this reason. From any thread.
    virtual void abort(const std::string& why) noexcept = 0;

    /// Seconds this rank has spent inside collectives since the last call, those of its splits included.
    virtual double takeSeconds() = 0;
};

} // namespace mantissa
