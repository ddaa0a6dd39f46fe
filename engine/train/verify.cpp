#include "engine/train/verify.h"

#include "engine/comm/thread_group.h"
#include "engine/strategy/strategy.h"
#include "engine/tensor/guarded_torch.h"
#include "engine/train/verify_compare.h"
#include "engine/train/verify_trace.h"

#include <cstdio>
#include <thread>
#include <zlib.h>

namespace mantissa {
namespace {

constexpr std::chrono::seconds kPatience{60};

/// CRC-32 over the bytes of all parameters, in their order and their own dtype.
std::string checksumOf(const std::vector<at::Tensor>& parameters)
{
    uLong crc = crc32(0, nullptr, 0);
    for (const auto& parameter : parameters) {
        const at::Tensor plain = parameter.detach().contiguous();
        crc = crc32_z(crc, static_cast<const Bytef*>(plain.const_data_ptr()), plain.nbytes());
    }
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%08lx", crc);
    return text.data();
}

Result<void> replayRank(const std::shared_ptr<PreparedRun>& prepared, Communicator& communicator,
                        const TrainerSeams& seams, bool checksums, Replay& replay)
{
    const auto rank = static_cast<std::size_t>(communicator.rank());
    return guardedTorch("rank " + std::to_string(rank), [&]() -> Result<void> {
        Trainer trainer(prepared, communicator, seams);
        while (!trainer.finished()) {
            replay.reports[rank].push_back(trainer.step());
            if (checksums)
                replay.checksums.push_back(checksumOf(trainer.strategy().parameters()));
        }
        auto parameters = trainer.strategy().fullParameters(rank == 0);
        if (rank == 0) {
            replay.parameters = std::move(parameters);
            replay.buffers = trainer.model().buffers();
        }
        return {};
    });
}

Result<Replay> replayTrace(const Trace& trace, const TrainerSeams& seams, bool exact)
{
    auto prepared = prepareRun(trace.plan);
    if (!prepared)
        return prepared.error();
    const auto ranks = static_cast<std::size_t>(trace.plan.ranks);
    Replay replay;
    replay.reports.resize(ranks);
    ThreadGroup group(trace.plan.ranks, kPatience);
    std::vector<Result<void>> outcomes(ranks);
    const auto run = [&](int rank) {
        const auto communicator = group.communicator(rank);
        auto outcome = replayRank(*prepared, *communicator, seams, exact, replay);
        if (!outcome)
            group.abort(outcome.error().message);
        outcomes[static_cast<std::size_t>(rank)] = std::move(outcome);
    };
    {
        std::vector<std::jthread> others;
        for (int rank = 1; rank < trace.plan.ranks; ++rank)
            others.emplace_back(run, rank);
        run(0);
    }
    if (group.aborted())
        return Error{ErrorCode::Internal, trace.id + ": " + group.reason(),
                     "The engine does not get through the case; train its set-up to see where."};
    for (const auto& outcome : outcomes) {
        if (!outcome)
            return outcome.error();
    }
    return replay;
}

} // namespace

Result<VerifyReport> verifyCase(const VerifyRequest& request, const TrainerSeams& seams)
{
    auto trace = readTrace(request.caseFolder);
    if (!trace)
        return trace.error();
    if (request.exact && trace->distributed)
        return Error{ErrorCode::NotHere, "not run here: a comparison bit by bit of more than one process",
                     "Leave --exact out: sums over ranks go in another order there."};
    auto recordedFinal = readSafetensors(trace->finalFile);
    if (!recordedFinal)
        return recordedFinal.error();
    auto replay = replayTrace(*trace, seams, request.exact);
    if (!replay)
        return replay.error();
    return guardedTorch("comparing", [&]() -> Result<VerifyReport> {
        try {
            return request.exact ? compareExactly(*trace, *replay)
                                 : compareWithin(*trace, *replay, *recordedFinal);
        } catch (const nlohmann::json::exception& error) {
            return Error{ErrorCode::Damaged,
                         trace->id + ": the recorded steps cannot be compared: " + traceProblem(error) + ".",
                         "Copy the case again, or mend that place."};
        }
    });
}

} // namespace mantissa
