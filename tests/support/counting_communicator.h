#pragma once

#include "engine/comm/communicator.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace mantissa {

/// Passes every call on and counts it by name, those of its splits included.
class CountingCommunicator final : public Communicator {
public:
    using Counts = std::map<std::string, int>;

    explicit CountingCommunicator(Communicator& inner) : m_inner(inner), m_counts(std::make_shared<Counts>())
    {
    }

    Counts take() { return std::exchange(*m_counts, {}); }

    int rank() const override { return m_inner.rank(); }
    int size() const override { return m_inner.size(); }
    void allGather(const void* in, void* out, std::size_t count, WireType type) override
    {
        ++(*m_counts)["all-gather"];
        m_inner.allGather(in, out, count, type);
    }
    void reduceScatter(const void* in, void* out, std::size_t count, WireType type) override
    {
        ++(*m_counts)["reduce-scatter"];
        m_inner.reduceScatter(in, out, count, type);
    }
    void allReduce(void* buffer, std::size_t count, WireType type, ReduceOp op) override
    {
        ++(*m_counts)["all-reduce"];
        m_inner.allReduce(buffer, count, type, op);
    }
    void broadcast(void* buffer, std::size_t bytes, int root) override
    {
        ++(*m_counts)["broadcast"];
        m_inner.broadcast(buffer, bytes, root);
    }
    void barrier() override
    {
        ++(*m_counts)["barrier"];
        m_inner.barrier();
    }
    std::unique_ptr<Communicator> split(int colour) override
    {
        auto part = m_inner.split(colour);
        auto counting = std::unique_ptr<CountingCommunicator>(new CountingCommunicator(*part));
        counting->m_owned = std::move(part);
        counting->m_counts = m_counts;
        return counting;
    }
    void abort(const std::string& why) noexcept override { m_inner.abort(why); }
    double takeSeconds() override { return m_inner.takeSeconds(); }

private:
    std::unique_ptr<Communicator> m_owned;
    Communicator& m_inner;
    std::shared_ptr<Counts> m_counts;
};

} // namespace mantissa
