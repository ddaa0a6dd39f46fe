#include "engine/numerics/number_format.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <bit>
#include <cmath>
#include <fstream>

using namespace mantissa;
using Json = nlohmann::json;

namespace {

const Json& recorded()
{
    static const Json all = [] {
        std::ifstream in(TEST_DATA "/golden/formats.json");
        return Json::parse(in);
    }();
    return all;
}

std::uint32_t bitsOf(const Json& hex)
{
    return static_cast<std::uint32_t>(std::stoul(hex.get<std::string>(), nullptr, 16));
}

float floatOf(const Json& hex)
{
    return std::bit_cast<float>(bitsOf(hex));
}

const NumberFormat& formatNamed(const std::string& name)
{
    for (const auto& format : numberFormats()) {
        if (format.name == name || (name == "e4m3fn" && format.name == "e4m3"))
            return format;
    }
    throw std::invalid_argument(name);
}

/// NaN as a class, all else bit by bit.
bool isSame(float a, float b)
{
    return (std::isnan(a) && std::isnan(b))
        || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// tf32 is recorded in the bits of an fp32.
std::uint32_t codeOf(const Json& hex, const NumberFormat& format)
{
    return format.name == "tf32" ? bitsOf(hex) >> 13 : bitsOf(hex);
}

} // namespace

class TestNumberFormat : public QObject {
    Q_OBJECT

private slots:
    void encodesAsRecorded_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("table");
        for (const auto& [name, format] : recorded().at("formats").items()) {
            for (const char* table : {"encode", "encode_saturating", "encode_rna"}) {
                if (format.contains(table))
                    QTest::addRow("%s %s", name.c_str(), table) << QString::fromStdString(name) << table;
            }
        }
    }
    void encodesAsRecorded()
    {
        QFETCH(QString, name);
        QFETCH(QString, table);
        const auto& format = formatNamed(name.toStdString());
        const auto overflow = table == "encode_saturating" ? Overflow::Saturate : Overflow::ToInfinity;
        const auto rounding = table == "encode_rna" ? Rounding::NearestAway : Rounding::NearestEven;

        for (const auto& row : recorded().at("formats").at(name.toStdString()).at(table.toStdString())) {
            const float value = floatOf(row.at(0));
            const auto code = encodeNumber(value, format, overflow, rounding);
            const float wanted = decodeNumber(codeOf(row.at(1), format), format);
            QVERIFY2(isSame(decodeNumber(code, format), wanted), row.dump().c_str());
            if (!std::isnan(wanted))
                QCOMPARE(code, codeOf(row.at(1), format));
        }
    }

    void decodesAsRecorded_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto& [name, format] : recorded().at("formats").items()) {
            if (format.contains("decode"))
                QTest::newRow(name.c_str()) << QString::fromStdString(name);
        }
    }
    void decodesAsRecorded()
    {
        QFETCH(QString, name);
        const auto& format = formatNamed(name.toStdString());
        for (const auto& row : recorded().at("formats").at(name.toStdString()).at("decode"))
            QVERIFY2(isSame(decodeNumber(bitsOf(row.at(0)), format), floatOf(row.at(1))), row.dump().c_str());
    }

    void arithmeticRoundsOnceFromFp32_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("fp16") << "fp16";
        QTest::newRow("bf16") << "bf16";
    }
    void arithmeticRoundsOnceFromFp32()
    {
        QFETCH(QString, name);
        const auto& format = formatNamed(name.toStdString());
        const Json& table = recorded().at("arithmetic").at(name.toStdString());
        const auto at = [&](const char* key, std::size_t i) {
            return decodeNumber(bitsOf(table.at(key).at(i)), format);
        };
        for (std::size_t i = 0; i < table.at("a").size(); ++i) {
            const float a = at("a", i);
            const float b = at("b", i);
            const float near = at("near", i);
            const auto check = [&](const char* key, float result) {
                return isSame(roundedTo(result, format), at(key, i));
            };
            QVERIFY2(check("a_times_b", a * b), std::to_string(i).c_str());
            QVERIFY2(check("a_plus_near", a + near), std::to_string(i).c_str());
            QVERIFY2(check("a_minus_near", a - near), std::to_string(i).c_str());
            QVERIFY2(check("a_div_near", a / near), std::to_string(i).c_str());
        }
    }

    void sumsStagnateAsRecorded_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"fp32", "fp16", "bf16"})
            QTest::newRow(name) << name;
    }
    void sumsStagnateAsRecorded()
    {
        QFETCH(QString, name);
        struct Sum {
            const char* id;
            float start;
            float increment;
            int count;
        };
        const auto& format = formatNamed(name.toStdString());
        for (const Sum& sum :
             {Sum{"add_1e-4_to_1_1000x", 1.0F, 1e-4F, 1000}, Sum{"add_0.1_to_0_10000x", 0.0F, 0.1F, 10000},
              Sum{"count_by_one_4096", 0.0F, 1.0F, 4096}, Sum{"add_1e-3_to_1_1000x", 1.0F, 1e-3F, 1000}}) {
            const Json& wanted = recorded().at("stagnation").at(name.toStdString()).at(sum.id);
            const float increment = roundedTo(sum.increment, format);
            float total = sum.start;
            int stuck = -1;
            for (int i = 0; i < sum.count; ++i) {
                const float next = roundedTo(total + increment, format);
                stuck = next == total && stuck < 0 ? i : stuck;
                total = next;
            }

            QCOMPARE(static_cast<double>(increment), wanted.at("increment_as_stored").get<double>());
            QCOMPARE(static_cast<double>(total), wanted.at("result").get<double>());
            const Json& first = wanted.at("first_addition_without_effect");
            QCOMPARE(stuck, first.is_null() ? -1 : first.get<int>());
        }
    }

    void sequentialSumsAreAsRecorded()
    {
        const Json& table = recorded().at("reductions");
        for (const char* name : {"fp16", "bf16"}) {
            const auto& format = formatNamed(name);
            float sum = 0.0F;
            for (const auto& bits : table.at("input_fp32_bits"))
                sum = roundedTo(sum + roundedTo(floatOf(bits), format), format);
            QCOMPARE(static_cast<double>(sum), table.at(name).at("sequential_in_format").get<double>());
        }
    }

    void theFormatsAreWhatTheTablesSay()
    {
        QCOMPARE(kFp16.largest(), 65504.0);
        QCOMPARE(kE5m2.largest(), 57344.0);
        QCOMPARE(kE4m3.largest(), 448.0);
        QCOMPARE(kE4m3.leastNormal(), 0.015625);
        QCOMPARE(kFp16.leastSubnormal(), std::ldexp(1.0, -24));
        QCOMPARE(kBf16.epsilon(), 0.0078125);
        QCOMPARE(kFp32.largest(), static_cast<double>(std::numeric_limits<float>::max()));
    }
};

QTEST_APPLESS_MAIN(TestNumberFormat)
#include "tst_number_format.moc"
