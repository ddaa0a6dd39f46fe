#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/known_keys.h"
#include "engine/recipe/path.h"
#include "engine/recipe/setup_file.h"

#include <QTest>

#include <algorithm>
#include <sstream>

using namespace mantissa;

namespace {

std::string sectionOf(const Field& field)
{
    return std::string(field.path.substr(0, field.path.find('.')));
}

std::vector<std::string> namesIn(std::string_view classes)
{
    std::istringstream words{std::string(classes)};
    return {std::istream_iterator<std::string>(words), {}};
}

} // namespace

class TestFields : public QObject {
    Q_OBJECT

private slots:
    void everyClassThatAnArgumentNamesCanBeChosen()
    {
        for (const auto* field : allFields()) {
            if (field->classes.empty())
                continue;
            const auto* chooser = fieldAt(sectionOf(*field) + ".class_path");
            QVERIFY2(chooser, std::string(field->path).c_str());
            for (const auto& name : namesIn(field->classes))
                QVERIFY2(std::any_of(chooser->choices.begin(), chooser->choices.end(),
                                     [&](std::string_view choice) { return shortClassName(choice) == name; }),
                         (std::string(field->path) + ": " + name).c_str());
        }
    }

    void anArgumentIsTakenByWholeNames()
    {
        Field field;
        field.classes = "AdamW SGD";
        QVERIFY(field.isTakenBy("AdamW"));
        QVERIFY(field.isTakenBy("SGD"));
        QVERIFY(!field.isTakenBy("Adam"));
        QVERIFY(!field.isTakenBy("GD"));
        field.classes = {};
        QVERIFY(field.isTakenBy("Adam"));
    }

    void whatIsWrittenWithAClassFitsItsField()
    {
        for (const auto* field : allFields())
            if (!field->whenChosen.empty())
                QVERIFY2(!field->classes.empty() && field->fallback.empty(),
                         std::string(field->path).c_str());
    }

    void aSectionThatDoesNothingIsNotKnown()
    {
        const auto keys = unknownKeys(readSetup("mantissa:\n  capture: {every: 10}\n").setup);
        QCOMPARE(keys.size(), std::size_t{1});
        QCOMPARE(keys.front().path, std::string("mantissa.capture"));
    }
};

QTEST_GUILESS_MAIN(TestFields)
#include "tst_fields.moc"
