#include "engine/train/rank_failure.h"

#include "engine/comm/communicator.h"
#include "engine/core/thrown_error.h"
#include "engine/tensor/guarded_torch.h"
#include "engine/train/trainer.h"

#include <new>
#include <string_view>

namespace mantissa {
namespace {

RankFailure outOfMemory(RankFailure failure, std::string cause)
{
    failure.code = ErrorCode::OutOfMemory;
    failure.cause = std::move(cause);
    failure.hint = "Make the batch or the model smaller, or shard over more ranks.";
    return failure;
}

constexpr const char* kUnforeseen =
    "Nobody foresaw this. Look whether the words name a setting of yours; the steps before are stored.";

bool saysOutOfMemory(std::string_view words)
{
    return words.find("not enough memory") != std::string_view::npos
        || words.find("can't allocate memory") != std::string_view::npos;
}

} // namespace

RankFailure failureOf(const std::exception_ptr& thrown, int rank)
{
    RankFailure failure;
    failure.rank = rank;
    try {
        std::rethrow_exception(thrown);
    } catch (const CommError& error) {
        failure.code = ErrorCode::RankLost;
        failure.cause = error.what();
        failure.followed = true;
    } catch (const RefusedCall& error) {
        failure.code = ErrorCode::Refused;
        failure.cause = error.kind + ": " + error.what();
    } catch (const FailureOnPurpose& error) {
        failure.cause = error.what();
        failure.hint = "Remove the fault from mantissa.inject to train without it.";
        failure.onPurpose = true;
    } catch (const ThrownError& error) {
        failure.code = error.error.code;
        failure.cause = error.error.message;
        failure.hint = error.error.hint;
    } catch (const std::bad_alloc&) {
        return outOfMemory(failure, "out of memory");
    } catch (const std::exception& error) {
        failure.cause = plainWords(error);
        if (saysOutOfMemory(failure.cause))
            return outOfMemory(failure, failure.cause);
        failure.hint = kUnforeseen;
    } catch (...) {
        failure.cause = "an unknown failure";
        failure.hint = kUnforeseen;
    }
    return failure;
}

const RankFailure* firstCause(const std::vector<RankFailure>& failures)
{
    const RankFailure* first = nullptr;
    for (const auto& failure : failures) {
        if (failure.followed)
            continue;
        const bool earlier = !first || failure.step < first->step
            || (failure.step == first->step && failure.rank < first->rank);
        first = earlier ? &failure : first;
    }
    return first;
}

std::string describe(const RankFailure& failure)
{
    return "Rank " + std::to_string(failure.rank) + " failed at " + std::string(stageTitle(failure.stage))
        + " in step " + std::to_string(failure.step) + ": " + failure.cause;
}

} // namespace mantissa
