#include "engine/interop/safetensors_header.h"

#include "engine/core/counted.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace mantissa {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxHeader = 64U << 20U;
constexpr std::size_t kMaxEvents = 4U << 20U; // A parsed number takes many times the bytes of its text.
constexpr int kMaxDepth = 4; // { name: { shape: [ … ] } }

constexpr std::array<std::pair<const char*, std::uint64_t>, 13> kElementSizes = {{
    {"F64", 8},
    {"F32", 4},
    {"F16", 2},
    {"BF16", 2},
    {"I64", 8},
    {"I32", 4},
    {"I16", 2},
    {"I8", 1},
    {"U8", 1},
    {"BOOL", 1},
    {"F8_E4M3", 1},
    {"F8_E5M2", 1},
    {"U64", 8},
}};

Error damaged(const std::filesystem::path& file, const std::string& what)
{
    return {ErrorCode::Damaged, file.string() + " is not a sound safetensors file: " + what,
            "Write or copy the file again."};
}

/// Parses with a limit on depth and without repeated names, which the format forbids and the parser would
/// merge silently.
std::optional<Json> parseHeader(const std::string& text)
{
    std::set<std::string> names;
    bool sound = true;
    std::size_t events = 0;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth > kMaxDepth || ++events > kMaxEvents)
            sound = false;
        if (event == Json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
            sound = false;
        return sound;
    };
    Json json = Json::parse(text, watch, false);
    if (!sound || json.is_discarded() || !json.is_object())
        return std::nullopt;
    return json;
}

std::optional<std::uint64_t> unsignedOf(const Json& value)
{
    if (!value.is_number_unsigned())
        return std::nullopt;
    return value.get<std::uint64_t>();
}

/// None where the shape does not fit into 63 bits.
std::optional<std::uint64_t> byteCount(const SafetensorsEntry& entry)
{
    std::uint64_t bytes = safetensorsElementSize(entry.dtype);
    for (const std::int64_t size : entry.shape) {
        const auto factor = static_cast<std::uint64_t>(size);
        if (factor != 0
            && bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / factor)
            return std::nullopt;
        bytes *= factor;
    }
    return bytes;
}

Result<SafetensorsEntry> readEntry(const std::filesystem::path& file, const std::string& name,
                                   const Json& json)
{
    const auto wrong = [&](const std::string& what) {
        return damaged(file, "tensor '" + name + "' " + what);
    };
    if (!json.is_object() || !json.contains("dtype") || !json.contains("shape")
        || !json.contains("data_offsets"))
        return wrong("lacks its dtype, shape or data_offsets");
    SafetensorsEntry entry{name, {}, {}, 0, 0};
    if (!json["dtype"].is_string() || safetensorsElementSize(json["dtype"].get<std::string>()) == 0)
        return wrong("has an unknown dtype");
    entry.dtype = json["dtype"].get<std::string>();
    if (!json["shape"].is_array() || json["shape"].size() > 64)
        return wrong("has a shape that is no short list");
    for (const auto& size : json["shape"]) {
        const auto value = unsignedOf(size);
        if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return wrong("has a size that is no whole number");
        entry.shape.push_back(static_cast<std::int64_t>(*value));
    }
    const Json& offsets = json["data_offsets"];
    const bool pair =
        offsets.is_array() && offsets.size() == 2 && unsignedOf(offsets[0]) && unsignedOf(offsets[1]);
    if (!pair)
        return wrong("has data_offsets that are no two numbers");
    entry.begin = *unsignedOf(offsets[0]);
    entry.end = *unsignedOf(offsets[1]);
    const auto bytes = byteCount(entry);
    if (entry.end < entry.begin || !bytes || *bytes != entry.end - entry.begin)
        return wrong("has a shape that does not fit its place in the file");
    return entry;
}

/// Tensors must fill the file without overlap, gap or rest.
Result<void> checkTiling(const std::filesystem::path& file, std::vector<SafetensorsEntry>& entries,
                         std::uint64_t dataBytes)
{
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    for (const auto& entry : entries) {
        if (entry.begin != at)
            return damaged(file, "tensor '" + entry.name + "' overlaps another one or leaves a gap");
        at = entry.end;
    }
    if (at != dataBytes)
        return damaged(file,
                       "it has " + counted(static_cast<std::int64_t>(dataBytes), "byte")
                           + " of data, its header names " + std::to_string(at));
    return {};
}

Result<std::string> readHeaderText(const std::filesystem::path& file, std::uint64_t fileSize)
{
    std::ifstream in(file, std::ios::binary);
    std::array<unsigned char, 8> raw{};
    if (!in.read(reinterpret_cast<char*>(raw.data()), raw.size()))
        return damaged(file, "it is shorter than the length of its header");
    std::uint64_t length = 0;
    for (std::size_t i = raw.size(); i > 0; --i)
        length = (length << 8U) | raw[i - 1];
    if (length > fileSize - raw.size() || length > kMaxHeader)
        return damaged(file, "its header claims " + std::to_string(length) + " bytes");
    std::string text(length, '\0');
    if (!in.read(text.data(), static_cast<std::streamsize>(length)))
        return damaged(file, "its header cannot be read");
    return text;
}

} // namespace

std::uint64_t safetensorsElementSize(const std::string& dtype)
{
    for (const auto& [name, size] : kElementSizes) {
        if (dtype == name)
            return size;
    }
    return 0;
}

Result<SafetensorsHeader> readSafetensorsHeader(const std::filesystem::path& file)
{
    std::error_code failure;
    const std::uint64_t fileSize = std::filesystem::file_size(file, failure);
    if (failure)
        return Error{ErrorCode::Io, "Cannot read " + file.string() + ": " + failure.message(), {}};
    auto text = readHeaderText(file, fileSize);
    if (!text)
        return text.error();
    const auto json = parseHeader(*text);
    if (!json)
        return damaged(file, "its header is no JSON object of tensors, or names one twice");
    SafetensorsHeader header;
    header.dataStart = 8 + text->size();
    for (const auto& [name, value] : json->items()) {
        if (name == "__metadata__") {
            for (const auto& [key, word] : value.items()) {
                if (word.is_string())
                    header.metadata[key] = word.get<std::string>();
            }
            continue;
        }
        auto entry = readEntry(file, name, value);
        if (!entry)
            return entry.error();
        header.entries.push_back(*std::move(entry));
    }
    if (auto tiled = checkTiling(file, header.entries, fileSize - header.dataStart); !tiled)
        return tiled.error();
    return header;
}

std::string makeSafetensorsHeader(std::vector<SafetensorsEntry>& entries,
                                  const std::map<std::string, std::string>& metadata)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (!metadata.empty())
        json["__metadata__"] = metadata;
    std::uint64_t at = 0;
    for (auto& entry : entries) {
        entry.begin = at;
        entry.end = at + byteCount(entry).value_or(0);
        at = entry.end;
        json[entry.name] = {
            {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
    }
    std::string text = json.dump();
    text.append((8 - text.size() % 8) % 8, ' '); // The data begins at a multiple of 8.
    std::string out;
    for (unsigned shift = 0; shift < 64; shift += 8)
        out.push_back(static_cast<char>((text.size() >> shift) & 0xFFU));
    return out + text;
}

} // namespace mantissa
