#include "engine/interop/model_sizes.h"
#include "engine/interop/safetensors_header.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace mantissa;

namespace {

/// A file whose data are holes: as large as it says, and no byte of it is stored.
void writeHollow(const std::string& file, std::vector<SafetensorsEntry> entries)
{
    const auto header = makeSafetensorsHeader(entries, {});
    std::ofstream(file, std::ios::binary) << header;
    std::filesystem::resize_file(file, header.size() + (entries.empty() ? 0 : entries.back().end));
}

const char* const kGpt2 =
    R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257,
    "n_positions": 1024, "n_inner": null})";
const char* const kLlama = R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
    "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000, "torch_dtype": "float16"})";
const char* const kQwen = R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
    "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2, "vocab_size": 151936,
    "tie_word_embeddings": true, "torch_dtype": "bfloat16"})";
const char* const kBert = R"({"model_type": "bert", "hidden_size": 768, "intermediate_size": 3072,
    "num_hidden_layers": 12, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})";

} // namespace

class TestModelSizes : public QObject {
    Q_OBJECT

private slots:
    void anArchitectureHasAsManyWeightsAsItsPublicModel_data()
    {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<qint64>("elements");
        QTest::addColumn<int>("units");
        QTest::addColumn<int>("bytes");
        QTest::newRow("GPT-2 small") << QByteArray(kGpt2) << qint64{124439808} << 13 << 4;
        QTest::newRow("Llama 7B") << QByteArray(kLlama) << qint64{6738415616} << 33 << 2;
        QTest::newRow("Qwen2 0.5B") << QByteArray(kQwen) << qint64{494032768} << 25 << 2;
        QTest::newRow("BERT base") << QByteArray(kBert) << qint64{109482240} << 13 << 4;
    }
    void anArchitectureHasAsManyWeightsAsItsPublicModel()
    {
        QFETCH(QByteArray, config);
        QFETCH(qint64, elements);
        QFETCH(int, units);
        QFETCH(int, bytes);

        const auto sizes = read("config.json", config.toStdString());

        QVERIFY2(sizes, sizes ? "" : sizes.error().message.c_str());
        QCOMPARE(sizes->elements, elements);
        QCOMPARE(sizes->bytes, static_cast<std::uint64_t>(elements * bytes));
        QCOMPARE(static_cast<int>(sizes->units.size()), units);
        QCOMPARE(sizes->units.back().name, std::string("root"));
        QVERIFY(sizes->computed);
    }

    void aHeaderGivesUnitsInTheirOrder()
    {
        std::vector<SafetensorsEntry> entries = {{"model.embed.weight", "BF16", {100, 8}}};
        for (int block = 0; block < 11; ++block) {
            const auto name = "model.layers." + std::to_string(block) + ".";
            entries.push_back({name + "up.weight", "BF16", {16, 8}});
            entries.push_back({name + "experts.3.weight", "F32", {4}});
        }
        writeHollow(path("m.safetensors"), entries);

        const auto sizes = readModelSizes(path("m.safetensors"));

        QVERIFY2(sizes, sizes ? "" : sizes.error().message.c_str());
        QCOMPARE(sizes->units.size(), std::size_t{12});
        QCOMPARE(sizes->units[9], (ModelUnit{"model.layers.9", 132, 272}));
        QCOMPARE(sizes->units[10].name, std::string("model.layers.10"));
        QCOMPARE(sizes->units[11], (ModelUnit{"root", 800, 1600}));
        QCOMPARE(sizes->largestUnit, std::int64_t{800});
        QCOMPARE(sizes->elements, std::int64_t{800 + 11 * 132});
        QVERIFY(!sizes->computed);
    }

    void anIndexIsReadThroughItsFiles()
    {
        writeHollow(path("a.safetensors"), {{"h.0.w", "F16", {10}}});
        writeHollow(path("b.safetensors"), {{"h.1.w", "F16", {10}}, {"ln.w", "F16", {2}}});
        const std::string index =
            R"({"metadata": {}, "weight_map": {"h.0.w": "a.safetensors", "h.1.w": "b.safetensors"}})";

        const auto sizes = read("model.safetensors.index.json", index);
        std::filesystem::remove(path("b.safetensors"));
        const auto half = read("model.safetensors.index.json", index);

        QVERIFY2(sizes, sizes ? "" : sizes.error().message.c_str());
        QCOMPARE(sizes->units.size(), std::size_t{3});
        QCOMPARE(sizes->bytes, std::uint64_t{44});
        QVERIFY(!half && half.error().message.find("b.safetensors") != std::string::npos);
        QVERIFY(half.error().hint.find("config.json") != std::string::npos);
    }

    void whatIsNoModelIsRefused_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("words");
        QTest::newRow("no JSON") << QByteArray("hello") << "holds no JSON object";
        QTest::newRow("a list") << QByteArray("[1]") << "holds no JSON object";
        QTest::newRow("deep") << QByteArray("{\"a\":") + QByteArray(5000, '[') << "holds no JSON object";
        QTest::newRow("something else") << QByteArray("{}") << "neither an index";
        QTest::newRow("another model") << QByteArray(R"({"model_type": "mamba"})") << "describes a mamba";
        QTest::newRow("a number is missing") << QByteArray(R"({"model_type": "gpt2"})") << "n_embd";
        QTest::newRow("no size") << QByteArray(R"({"model_type": "gpt2", "n_embd": -3})") << "n_embd is -3";
        QTest::newRow("a way out of the folder")
            << QByteArray(R"({"weight_map": {"w": "../../etc/passwd"}})") << "does not lie beside it";
    }
    void whatIsNoModelIsRefused()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, words);

        const auto sizes = read("x.json", text.toStdString());

        QVERIFY(!sizes);
        QVERIFY2(sizes.error().message.find(words.toStdString()) != std::string::npos,
                 sizes.error().message.c_str());
        QVERIFY(!sizes.error().hint.empty());
        QVERIFY(!readModelSizes(path("nowhere.json")));
    }

private:
    std::string path(const char* name) const { return (m_folder.path() + "/" + name).toStdString(); }
    Result<ModelSizes> read(const char* name, const std::string& text) const
    {
        std::ofstream(path(name)) << text;
        return readModelSizes(path(name));
    }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestModelSizes)
#include "tst_model_sizes.moc"
