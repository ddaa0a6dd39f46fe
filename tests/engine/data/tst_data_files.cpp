#include "engine/data/data_set.h"
#include "engine/data/loader.h"
#include "engine/data/npy_file.h"
#include "engine/data/validation_set.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <numeric>
#include <set>

using namespace mantissa;

namespace {

void write(const std::string& file, const std::string& content)
{
    std::ofstream(file, std::ios::binary) << content;
}

/// Records of CIFAR: `label` bytes, then 3072 that count up.
std::string cifarRecords(int count, const std::string& label)
{
    std::string bytes;
    for (int record = 0; record < count; ++record) {
        bytes += label;
        for (int i = 0; i < 3072; ++i)
            bytes += static_cast<char>((record + i) % 256);
    }
    return bytes;
}

std::string npy(const std::string& header, const std::string& content, char version = 1)
{
    const auto length = static_cast<unsigned>(header.size());
    return std::string("\x93NUMPY", 6) + version + '\0' + static_cast<char>(length % 256)
        + static_cast<char>(length / 256) + header + content;
}

std::string npyHeader(const std::string& type, const std::string& shape, bool fortran = false)
{
    return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False")
        + ", 'shape': " + shape + ", }\n";
}

template <typename Number>
std::string raw(std::initializer_list<Number> numbers)
{
    return {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(Number)};
}

Batch all(const DataSet& data)
{
    std::vector<std::int64_t> samples(static_cast<std::size_t>(data.size()));
    std::iota(samples.begin(), samples.end(), 0);
    return data.take(samples);
}

bool says(const Error& error, const std::string& words)
{
    if (error.message.find(words) != std::string::npos && !error.hint.empty())
        return true;
    qWarning("“%s” (%s) does not say “%s”", error.message.c_str(), error.hint.c_str(), words.c_str());
    return false;
}

} // namespace

class TestDataFiles : public QObject {
    Q_OBJECT

private slots:
    void cifarIsReadFileAfterFile()
    {
        for (int file = 1; file <= 5; ++file)
            write(path("data_batch_" + std::to_string(file) + ".bin"),
                  cifarRecords(2, std::string(1, static_cast<char>(file))));
        write(path("test_batch.bin"), cifarRecords(1, "\x07"));

        const auto train = openCifar({folder(), false, false});
        const auto test = openCifar({folder(), false, true}, true);

        QVERIFY2(train, train ? "" : train.error().message.c_str());
        const Batch batch = all(**train);
        QCOMPARE(batch.input.sizes(), at::IntArrayRef({10, 3, 32, 32}));
        QCOMPARE(batch.target[9].item<std::int64_t>(), std::int64_t{5});
        const double shade = (5.0 / 255.0 - 0.4914) / 0.2470;
        QVERIFY(std::abs(batch.input[0][0][0][5].item<double>() - shade) < 1e-5);
        QCOMPARE(all(**test).input.sizes(), at::IntArrayRef({1, 3072}));
        QCOMPARE(all(**test).target[0].item<std::int64_t>(), std::int64_t{7});
    }

    void theFineClassOfCifar100IsTaken()
    {
        write(path("train.bin"), cifarRecords(1, "\x03\x4D"));

        const auto data = openCifar({folder(), true, false});

        QVERIFY2(data, data ? "" : data.error().message.c_str());
        QCOMPARE(all(**data).target[0].item<std::int64_t>(), std::int64_t{77});
    }

    void badCifarIsRefusedWithItsOffset()
    {
        write(path("train.bin"), cifarRecords(2, std::string("\x03\x01", 2)).substr(0, 5000));
        QVERIFY(says(openCifar({folder(), true, false}).error(), "train.bin: it ends inside record 1"));
        auto labels = cifarRecords(2, std::string("\x03\x01", 2));
        labels[3074 + 1] = 100;
        write(path("train.bin"), labels);
        QVERIFY(says(openCifar({folder(), true, false}).error(), "offset 3075, record 1"));
        write(path("train.bin"), "");
        QVERIFY(says(openCifar({folder(), true, false}).error(), "the file is empty"));
        QVERIFY(says(openCifar({folder() + "/nowhere", false, false}).error(), "data_batch_1.bin"));
    }

    void numpyArraysArePairs()
    {
        write(path("x.npy"), npy(npyHeader("<f4", "(2, 3)"), raw<float>({1, 2, 3, 4, 5, 6})));
        write(path("y.npy"), npy(npyHeader("<i8", "(2,)"), raw<std::int64_t>({4, 0})));

        const auto data = openNpy({path("x.npy"), path("y.npy"), true});

        QVERIFY2(data, data ? "" : data.error().message.c_str());
        const Batch batch = all(**data);
        QVERIFY(at::equal(batch.input, at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}).view({2, 3})));
        QVERIFY(at::equal(batch.target, at::tensor({4L, 0L})));
    }

    void bytesOfNumpyArePictures()
    {
        write(
            path("x.npy"),
            npy(npyHeader("|u1", "(1, 2, 2)"), raw<std::uint8_t>({0, 51, 102, 255}), 2).insert(10, 2, '\0'));
        write(path("y.npy"), npy(npyHeader("|u1", "(1,)"), raw<std::uint8_t>({1})));

        const auto data = openNpy({path("x.npy"), path("y.npy"), false});

        QVERIFY2(data, data ? "" : data.error().message.c_str());
        const Batch batch = all(**data);
        QCOMPARE(batch.input.sizes(), at::IntArrayRef({1, 1, 2, 2}));
        QCOMPARE(batch.input[0][0][0][1].item<float>(), 0.2F);
    }

    void badNumpyIsRefused_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const std::string& content, const char* words) {
            QTest::newRow(name) << QByteArray(content.data(), static_cast<qsizetype>(content.size()))
                                << words;
        };
        const auto two = raw<float>({1, 2});
        row("text", "hello, this is no array", "offset 0");
        row("empty", "", "offset 0");
        row("future", npy(npyHeader("<f4", "(2, 1)"), two, 9), "offset 6");
        row("long header", npy(npyHeader("<f4", "(2, 1)"), two).substr(0, 20), "offset 8");
        row("no shape", npy("{'descr': '<f4', 'fortran_order': False, }\n", two), "lacks");
        row("by columns", npy(npyHeader("<f4", "(2, 1)", true), two), "column by column");
        row("objects", npy(npyHeader("|O", "(2, 1)"), two), "type |O");
        row("other end first", npy(npyHeader(">f4", "(2, 1)"), two), "type >f4");
        row("too short", npy(npyHeader("<f4", "(3, 1)"), two), "8 bytes follow");
        row("huge", npy(npyHeader("<f4", "(999999999999, 999999999999)"), two), "more than the file holds");
        row("odd shape", npy(npyHeader("<f4", "(2, -1)"), two), "no number from 1");
    }
    void badNumpyIsRefused()
    {
        QFETCH(QByteArray, content);
        QFETCH(QString, words);
        write(path("bad.npy"), content.toStdString());

        const auto array = readNpy(path("bad.npy"), "data.init_args.inputs_file");

        QVERIFY(!array);
        QVERIFY(says(array.error(), words.toStdString()));
        QVERIFY(says(array.error(), "bad.npy"));
    }

    void numpyArraysThatDoNotFitAreRefused()
    {
        write(path("x.npy"), npy(npyHeader("<f4", "(2, 1)"), raw<float>({1, 2})));
        write(path("three.npy"), npy(npyHeader("<i8", "(3,)"), raw<std::int64_t>({0, 1, 2})));
        write(path("floats.npy"), npy(npyHeader("<f8", "(2,)"), raw<double>({0, 1})));
        write(path("negative.npy"), npy(npyHeader("<i4", "(2,)"), raw<std::int32_t>({0, -1})));

        QVERIFY(says(openNpy({path("x.npy"), path("three.npy"), true}).error(), "2 samples"));
        QVERIFY(says(openNpy({path("x.npy"), path("floats.npy"), true}).error(), "whole number"));
        QVERIFY(says(openNpy({path("x.npy"), path("negative.npy"), true}).error(), "entry 1"));
        QVERIFY(says(openNpy({path("x.npy"), path("three.npy"), false}).error(), "no square images"));
    }

    void aTableHasNamesAndOneColumnOfClasses()
    {
        write(path("t.csv"), "a; kind ;b\r\n1.5;\"wild; one\";2\r\n\r\n-3;tame;4e1\r\n");

        const auto data = openCsv({path("t.csv"), "kind"});

        QVERIFY2(data, data ? "" : data.error().message.c_str());
        QVERIFY(at::equal(all(**data).input, at::tensor({1.5F, 2.0F, -3.0F, 40.0F}).view({2, 2})));
        QVERIFY(at::equal(all(**data).target, at::tensor({1L, 0L}))); // tame, wild
    }

    void aTableWithoutNamesTakesTheLastColumn()
    {
        write(path("t.csv"), "1,2,7\n3,4,0\n");

        const auto last = openCsv({path("t.csv"), ""});
        const auto first = openCsv({path("t.csv"), "0"});

        QVERIFY(at::equal(all(**last).target, at::tensor({7L, 0L})));
        QVERIFY(at::equal(all(**first).target, at::tensor({1L, 3L})));
        QCOMPARE(all(**first).input[1][1].item<float>(), 0.0F);
    }

    void badTablesAreRefusedWithTheirLine()
    {
        const auto opened = [&](const std::string& content, const std::string& target = {}) {
            write(path("t.csv"), content);
            return openCsv({path("t.csv"), target}).error();
        };
        QVERIFY(says(opened("a,b\n1,2\n3,4,5\n"), "t.csv:3: the line has 3 cells"));
        QVERIFY(says(opened("a,b\n1,2\nx,4\n"), "t.csv:3: column “a” has “x”"));
        QVERIFY(says(opened("1,2\nnan,4\n"), "t.csv:2: column 0 has “nan”"));
        QVERIFY(says(opened("a,b\n\"1,2\n"), "t.csv:2: a quote is not closed"));
        QVERIFY(says(opened("a,b\n1,2\n", "c"), "no column c"));
        QVERIFY(says(opened(""), "is empty"));
        QVERIFY(says(opened("a,b\n"), "no line of numbers"));
        QVERIFY(says(opened("1\n2\n"), "one column"));
        QVERIFY(says(openCsv({path("none.csv"), ""}).error(), "none.csv"));
    }

    void aFolderOfTextsKeepsItsRowsWithinFiles()
    {
        QDir(m_folder.path()).mkdir("texts");
        write(path("texts/b.txt"), "12345");
        write(path("texts/a.txt"), "abcdefghi");
        write(path("texts/short.txt"), "xy");
        write(path("texts/other.md"), "not this one");

        const auto data = openTextFolder({path("texts"), ".txt", 4});

        QVERIFY2(data, data ? "" : data.error().message.c_str());
        QCOMPARE((*data)->size(), std::int64_t{3});
        const Batch batch = all(**data);
        QCOMPARE(batch.input[1][0].item<std::int64_t>(), std::int64_t{'e'});
        QCOMPARE(batch.target[1][3].item<std::int64_t>(), std::int64_t{'i'});
        QCOMPARE(batch.input[2][0].item<std::int64_t>(), std::int64_t{'1'});
        QVERIFY(says(openTextFolder({path("texts"), ".html", 4}).error(), "“.html”"));
        QVERIFY(says(openTextFolder({path("texts"), ".txt", 400}).error(), "too short"));
        QVERIFY(says(openTextFolder({path("nowhere"), ".txt", 4}).error(), "nowhere"));
    }

    void aSplitKeepsEverySampleOnce()
    {
        const auto whole = openSynthetic({"vectors", 4, 3, 50}, 1);

        const DataSets halves = splitData(*whole, 0.2, false, 7);
        const DataSets again = splitData(*whole, 0.2, false, 7);
        const DataSets other = splitData(*whole, 0.2, false, 8);
        const DataSets tail = splitData(*whole, 0.2, true, 7);

        QCOMPARE(halves.train->size(), std::int64_t{40});
        QCOMPARE(halves.validation->size(), std::int64_t{10});
        std::multiset<float> firsts;
        for (const auto* part : {halves.train.get(), halves.validation.get()}) {
            const at::Tensor input = all(*part).input;
            for (std::int64_t i = 0; i < part->size(); ++i)
                firsts.insert(input[i][0].item<float>());
        }
        std::multiset<float> expected;
        const at::Tensor input = all(**whole).input;
        for (std::int64_t i = 0; i < 50; ++i)
            expected.insert(input[i][0].item<float>());
        QCOMPARE(firsts, expected);
        QVERIFY(at::equal(all(*halves.validation).input, all(*again.validation).input));
        QVERIFY(!at::equal(all(*halves.validation).input, all(*other.validation).input));
        QVERIFY(at::equal(all(*tail.validation).input, input.narrow(0, 40, 10)));
    }

    void validationCountsEverySampleOnceOnAnyNumberOfRanks_data()
    {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {1, 2, 3, 4})
            QTest::addRow("%d", ranks) << ranks;
    }
    void validationCountsEverySampleOnceOnAnyNumberOfRanks()
    {
        QFETCH(int, ranks);
        const auto data = openSynthetic({"vectors", 4, 3, 13}, 1);
        const ValidationSet set(*data, 2, ranks);
        std::vector<at::Tensor> rows;
        for (std::int64_t batch = 0; batch < set.batches(); ++batch) {
            for (int rank = 0; rank < ranks; ++rank) {
                const auto part = set.take(batch, rank);
                QVERIFY(part.batch.input.size(0) >= 1); // a forward pass needs a row
                rows.push_back(part.batch.input.narrow(0, 0, part.counted));
            }
        }
        QVERIFY(at::equal(at::cat(rows), all(**data).input));
    }

    void aReadFileIsFoundAgainFromTheMiddle()
    {
        write(path("t.csv"), "1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n");
        const auto data = openCsv({path("t.csv"), ""});
        const Sampler sampler({6, 2, 1, -1, 3, true});
        Loader straight(*data, sampler, 1);
        for (int i = 0; i < 4; ++i)
            (void)straight.next(0);
        Loader sought(*data, sampler, 1);

        sought.seek(0, {1, 1});

        QVERIFY(at::equal(straight.next(0).input, sought.next(0).input));
    }

private:
    std::string folder() const { return m_folder.path().toStdString(); }
    std::string path(const std::string& name) const { return folder() + "/" + name; }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestDataFiles)
#include "tst_data_files.moc"
