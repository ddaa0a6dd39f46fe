#pragma once

#include "engine/core/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace mantissa {

/// SHA-256 (FIPS 180-4), fed piece by piece.
class Sha256 {
public:
    void add(std::string_view bytes);
    std::string hex(); ///< Ends the sum.

private:
    void addBlock(const unsigned char* block);

    std::array<std::uint32_t, 8> m_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> m_rest{};
    std::size_t m_restLength = 0;
    std::uint64_t m_bytes = 0;
};

Result<std::string> sha256OfFile(const std::filesystem::path& file);

} // namespace mantissa
