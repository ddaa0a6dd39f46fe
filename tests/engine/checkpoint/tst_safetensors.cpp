#include "engine/checkpoint/safetensors.h"
#include "engine/interop/safetensors_header.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace mantissa;

namespace {

std::string lengthOf(std::uint64_t length)
{
    std::string bytes;
    for (unsigned shift = 0; shift < 64; shift += 8)
        bytes.push_back(static_cast<char>((length >> shift) & 0xFFU));
    return bytes;
}

std::string fileOf(const std::string& header, std::size_t dataBytes)
{
    return lengthOf(header.size()) + header + std::string(dataBytes, '\1');
}

} // namespace

class TestSafetensors : public QObject {
    Q_OBJECT

private slots:
    void whatIsWrittenIsReadBack()
    {
        const NamedTensors tensors = {{"a", at::arange(6, at::kFloat).view({2, 3})},
                                      {"b", at::arange(5, at::kLong)},
                                      {"half", at::ones({3}, at::kHalf)},
                                      {"brain", at::ones({2, 2}, at::kBFloat16)},
                                      {"nothing", at::empty({0, 4}, at::kFloat)},
                                      {"one", at::full({}, 7.5, at::kDouble)}};

        QVERIFY(writeSafetensors(path("good"), tensors, {{"made by", "a test"}}));
        const auto back = readSafetensors(path("good"));
        const auto header = readSafetensorsHeader(path("good"));

        QVERIFY2(back, back ? "" : back.error().message.c_str());
        QCOMPARE(back->size(), tensors.size());
        for (const auto& [name, tensor] : tensors)
            QVERIFY2(at::equal(tensorNamed(*back, name), tensor), name.c_str());
        QCOMPARE(header->metadata.at("made by"), std::string("a test"));
        QCOMPARE(header->dataStart % 8, std::uint64_t{0});
    }

    void anUnsoundFileIsRefused_data()
    {
        QTest::addColumn<QByteArray>("content");
        const auto row = [](const char* name, const std::string& content) {
            QTest::newRow(name) << QByteArray(content.data(), static_cast<qsizetype>(content.size()));
        };
        row("empty", "");
        row("four bytes", "abcd");
        row("a header of 2^63 bytes", lengthOf(std::uint64_t{1} << 63U) + "{}");
        row("a header longer than the file", lengthOf(1000) + "{}");
        row("no JSON", fileOf("hello!!!", 0));
        row("a list", fileOf("[1, 2]", 0));
        row("deep nesting", fileOf(std::string(100000, '['), 0));
        row("nested values", fileOf(R"({"a":{"x":{"y":{"z":{"w":1}}}}})", 0));
        row("a name twice",
            fileOf(
                R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                1));
        row("unknown dtype", fileOf(R"({"a":{"dtype":"F13","shape":[1],"data_offsets":[0,1]}})", 1));
        row("no offsets", fileOf(R"({"a":{"dtype":"U8","shape":[1]}})", 1));
        row("negative size", fileOf(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1));
        row("sizes beyond 64 bits",
            fileOf(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})", 0));
        row("shape and bytes differ", fileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4));
        row("end before begin", fileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1));
        row("a place beyond 64 bits",
            fileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551615,0]}})", 1));
        row("a place that wraps around",
            fileOf(
                R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551615,18446744073709551616]}})",
                1));
        std::string bomb = R"({"a":{"dtype":"U8","data_offsets":[0,1],"shape":[1)";
        for (int i = 0; i < 5'000'000; ++i)
            bomb += ",1";
        row("a header that is a bomb", fileOf(bomb + "]}}", 1));
        row("overlap",
            fileOf(
                R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                3));
        row("gap",
            fileOf(
                R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                3));
        row("data cut off", fileOf(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", 5));
        row("data left over", fileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 5));
    }
    void anUnsoundFileIsRefused()
    {
        QFETCH(QByteArray, content);
        std::ofstream(path("bad"), std::ios::binary) << content.toStdString();

        const auto tensors = readSafetensors(path("bad"));

        QVERIFY(!tensors);
        QCOMPARE(tensors.error().code, ErrorCode::Damaged);
    }

private:
    std::string path(const char* name) const { return (m_folder.path() + "/" + name).toStdString(); }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestSafetensors)
#include "tst_safetensors.moc"
