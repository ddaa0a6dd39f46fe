#include "engine/strategy/gradient_buckets.h"

#include "engine/core/thrown_error.h"
#include "engine/strategy/wire_type.h"

#include <algorithm>
#include <stdexcept>

namespace mantissa {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kFirstBucketMiB = 1.0; // small, so that the first average begins early: DDP's own size

/// Called by autograd once a weight's gradient of a pass is there.
struct Arrival final : torch::autograd::PostAccumulateGradHook {
    Arrival(GradientBuckets& buckets, std::size_t parameter) : m_buckets(buckets), m_parameter(parameter) {}
    void operator()(const at::Tensor&) override { m_buckets.arrived(m_parameter); }

private:
    GradientBuckets& m_buckets;
    std::size_t m_parameter;
};

} // namespace

GradientBuckets::GradientBuckets(Communicator& communicator, std::vector<at::Tensor> parameters,
                                 std::vector<std::string> names, const DdpPlan& plan)
    : m_communicator(communicator),
      m_parameters(std::move(parameters)),
      m_names(std::move(names)),
      m_plan(plan),
      m_bucketOf(m_parameters.size()),
      m_offsets(m_parameters.size()),
      m_used(m_parameters.size(), false),
      m_arrivedNow(m_parameters.size(), false)
{
    layOut(plan.bucketMiB * kMebi);
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (!plan.gradientViews)
            m_own.push_back(at::zeros_like(m_parameters[i], at::MemoryFormat::Contiguous));
        torch::autograd::impl::set_post_acc_grad_hooks(m_parameters[i], std::make_unique<Arrival>(*this, i));
    }
    zero();
}

GradientBuckets::~GradientBuckets()
{
    for (const auto& parameter : m_parameters)
        torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

// Backward makes gradients from the last weight to the first.
void GradientBuckets::layOut(double bytesPerBucket)
{
    std::int64_t end = 0;
    double room = -1.0;
    for (std::size_t i = m_parameters.size(); i-- > 0;) {
        const auto bytes = static_cast<double>(m_parameters[i].nbytes());
        if (m_buckets.empty() || room < bytes) {
            room = m_buckets.empty() ? std::min(bytesPerBucket, kFirstBucketMiB * kMebi) : bytesPerBucket;
            m_buckets.push_back({end, 0, {}, 0});
        }
        auto& bucket = m_buckets.back();
        bucket.parameters.push_back(i);
        bucket.length += m_parameters[i].numel();
        m_bucketOf[i] = m_buckets.size() - 1;
        m_offsets[i] = end;
        end += m_parameters[i].numel();
        room -= bytes;
    }
    const auto type = m_parameters.empty() ? at::kFloat : m_parameters.front().scalar_type();
    m_flat = at::zeros({end}, type);
}

at::Tensor GradientBuckets::part(std::size_t parameter) const
{
    const auto& weight = m_parameters[parameter];
    return m_flat.narrow(0, m_offsets[parameter], weight.numel()).view(weight.sizes());
}

void GradientBuckets::zero()
{
    m_flat.zero_();
    m_averaged.reset();
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (!m_own.empty())
            m_own[i].zero_();
        m_parameters[i].mutable_grad() = m_own.empty() ? part(i) : m_own[i];
    }
    std::fill(m_used.begin(), m_used.end(), false);
    m_fresh = false;
    m_open = false;
    m_averagedNow = false;
}

void GradientBuckets::beginPass(bool sync)
{
    if (m_averagedNow) {
        // Put aside, so that what comes now is counted and averaged as this rank's own.
        m_averaged = m_averaged.defined() ? m_averaged.add_(m_flat) : m_flat.clone();
        m_flat.zero_();
        for (auto& gradient : m_own)
            gradient.zero_();
        m_averagedNow = false;
    }
    m_sync = sync;
    m_open = true;
    m_sent = 0;
    std::fill(m_arrivedNow.begin(), m_arrivedNow.end(), false);
    for (auto& bucket : m_buckets)
        bucket.awaited = bucket.parameters.size();
}

void GradientBuckets::arrived(std::size_t parameter)
{
    m_used[parameter] = true;
    m_fresh = true;
    if (!m_open || m_arrivedNow[parameter])
        return;
    m_arrivedNow[parameter] = true;
    --m_buckets[m_bucketOf[parameter]].awaited;
    if (m_sync)
        sendFull();
}

void GradientBuckets::sendFull()
{
    while (m_sent < m_buckets.size() && m_buckets[m_sent].awaited == 0)
        send(m_buckets[m_sent++]);
}

void GradientBuckets::copyIn(const Bucket& bucket)
{
    for (const std::size_t i : bucket.parameters) {
        if (!m_own.empty())
            part(i).copy_(m_own[i]);
    }
}

void GradientBuckets::send(const Bucket& bucket)
{
    const at::NoGradGuard noGrad;
    copyIn(bucket);
    at::Tensor sum = m_flat.narrow(0, bucket.offset, bucket.length);
    count(bucket);
    // Divided before the sum, as DDP does it: in 16 bit the sum could overflow where the mean does not.
    sum.mul_(1.0 / m_communicator.size());
    m_communicator.allReduce(sum.mutable_data_ptr(), static_cast<std::size_t>(bucket.length),
                             wireTypeOf(sum.scalar_type()), ReduceOp::Sum);
    for (const std::size_t i : bucket.parameters) {
        if (!m_own.empty())
            m_own[i].copy_(part(i));
    }
}

void GradientBuckets::endPass()
{
    m_open = false;
    if (!m_sync)
        return;
    while (m_sent < m_buckets.size())
        send(m_buckets[m_sent++]);
    m_averagedNow = true;
    m_fresh = false;
    if (m_plan.findUnused || (m_plan.staticGraph && m_promised.empty()))
        agreeOnUse();
    requireUse();
}

void GradientBuckets::agreeOnUse()
{
    std::vector<std::int64_t> used(m_used.begin(), m_used.end());
    m_communicator.allReduce(used.data(), used.size(), WireType::I64, ReduceOp::Max);
    for (std::size_t i = 0; i < used.size(); ++i)
        m_used[i] = used[i] != 0;
    if (m_plan.staticGraph && m_promised.empty())
        m_promised = m_used;
}

void GradientBuckets::requireUse() const
{
    for (std::size_t i = 0; i < m_used.size(); ++i) {
        if (!m_promised.empty() && m_used[i] && !m_promised[i])
            throw ThrownError({ErrorCode::InvalidSetup,
                               "static_graph was promised, and '" + m_names[i]
                                   + "' got a gradient that it had not in the first step",
                               "Set trainer.strategy.init_args.static_graph to false."});
        if (m_used[i] || m_plan.findUnused || (!m_promised.empty() && !m_promised[i]))
            continue;
        throw ThrownError(
            {ErrorCode::InvalidSetup,
             "'" + m_names[i] + "' got no gradient on rank " + std::to_string(m_communicator.rank()),
             "Freeze it (mantissa.frozen), or set find_unused_parameters to true."});
    }
}

void GradientBuckets::count(const Bucket& bucket)
{
    const std::int64_t elements = countNonfinite(m_flat.narrow(0, bucket.offset, bucket.length));
    if (elements == 0)
        return;
    const auto deepest =
        std::find_if(bucket.parameters.begin(), bucket.parameters.end(), // from the last to the first
                     [this](std::size_t parameter) { return countNonfinite(part(parameter)) > 0; });
    m_nonfinite.add(elements, *deepest);
}

void GradientBuckets::countFresh()
{
    if (!std::exchange(m_fresh, false))
        return;
    if (m_own.empty()) {
        for (const auto& bucket : m_buckets)
            count(bucket);
        return;
    }
    for (std::size_t i = 0; i < m_own.size(); ++i)
        m_nonfinite.add(countNonfinite(m_own[i]), i);
}

NonfiniteTally GradientBuckets::takeNonfinite()
{
    countFresh();
    return std::exchange(m_nonfinite, {});
}

void GradientBuckets::finish()
{
    const at::NoGradGuard noGrad;
    if (!m_averagedNow) { // a window whose last pass did not sync
        beginPass(true);
        endPass();
    }
    if (m_averaged.defined()) {
        m_flat.add_(m_averaged);
        m_averaged.reset();
        for (std::size_t i = 0; i < m_own.size(); ++i)
            m_own[i].copy_(part(i));
    }
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (!m_used[i])
            m_parameters[i].mutable_grad().reset();
    }
}

} // namespace mantissa
