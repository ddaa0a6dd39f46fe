#pragma once

#include "engine/core/guarded.h"
#include "engine/core/thrown_error.h"
#include "engine/tensor/torch.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace mantissa {

/// What went wrong, without LibTorch's stack trace.
std::string plainWords(const std::exception& error);

/// guarded() for a body that uses LibTorch: its errors lose their stack traces, its out-of-memory becomes
/// ours.
template <typename Body>
auto guardedTorch(std::string_view doing, Body&& body)
{
    return guarded(doing, [&] {
        using Answer = decltype(body());
        try {
            return body();
        } catch (const ThrownError& thrown) {
            return Answer(thrown.error);
        } catch (const c10::Error& error) {
            const std::string words = plainWords(error);
            if (words.find("not enough memory") != std::string::npos)
                throw std::bad_alloc();
            throw std::runtime_error(words);
        }
    });
}

} // namespace mantissa
