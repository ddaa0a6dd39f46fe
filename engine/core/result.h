#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace mantissa {

enum class ErrorCode {
    InvalidSetup, ///< What the user wrote cannot be used.
    NotFound,
    Io,
    Damaged, ///< A file of ours that is newer or broken.
    NotHere, ///< This build or machine cannot do it; the hint says what is missing.
    Refused, ///< The documented error of the target, raised on purpose (faithful mode).
    OutOfMemory,
    RankLost,
    Cancelled,
    Internal
};

/// What went wrong, and what the user can do about it.
struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;
    std::string hint; ///< May be empty.
};

/// A value or an Error. A small stand-in for std::expected, which g++ 12 lacks.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const noexcept { return m_state.index() == 0; }

    T& operator*() & { return std::get<0>(m_state); }
    const T& operator*() const& { return std::get<0>(m_state); }
    T&& operator*() && { return std::get<0>(std::move(m_state)); }
    T* operator->() { return &std::get<0>(m_state); }
    const T* operator->() const { return &std::get<0>(m_state); }

    const Error& error() const { return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    explicit operator bool() const noexcept { return !m_error; }
    const Error& error() const { return *m_error; }

private:
    std::optional<Error> m_error;
};

} // namespace mantissa
