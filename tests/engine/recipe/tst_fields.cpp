#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/known_keys.h"
#include "engine/recipe/path.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/training_classes.h"

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
                QVERIFY2(!field->classes.empty() && (field->fallback.empty() || !field->neededBy.empty()),
                         std::string(field->path).c_str());
    }

    void argumentsOfKnownClassesAreChecked_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("path");
        const auto row = [](const char* text, const char* path) {
            QTest::newRow(text) << QString(text) << QString(path);
        };
        row("optimizer: {class_path: torch.optim.AdamW, init_args: {lr: 0.1, momentum: 0.9}}",
            "optimizer.init_args.momentum");
        row("optimizer: {class_path: torch.optim.SGD, init_args: {lr: 0.1, momentum: 0.9}}", "");
        row("optimizer: {class_path: bitsandbytes.optim.Adam8bit, init_args: {percentile_clipping: 100}}",
            "");
        row("optimizer: {class_path: bitsandbytes.optim.Adam8bit, init_args: {percentile_clipping: 5}}",
            "optimizer.init_args.percentile_clipping");
        row("optimizer: {class_path: glacier.Descent, init_args: {slope: 3}}", "");
        row("lr_scheduler: {class_path: torch.optim.lr_scheduler.OneCycleLR, init_args: {max_lr: 1, epochs: "
            "2, "
            "last_epoch: -1}}",
            "");
        row("lr_scheduler: {class_path: torch.optim.lr_scheduler.StepLR, init_args: {max_lr: 1}}",
            "lr_scheduler.init_args.max_lr");
    }

    void argumentsOfKnownClassesAreChecked()
    {
        QFETCH(QString, text);
        QFETCH(QString, path);

        const auto keys = unknownKeys(readSetup(text.toStdString() + "\n").setup);

        QCOMPARE(keys.size(), path.isEmpty() ? std::size_t{0} : std::size_t{1});
        if (!keys.empty())
            QCOMPARE(keys.front().path, path.toStdString());
    }

    void aSettingKnowsTheDefaultOfItsClass()
    {
        auto setup = readSetup("optimizer: {class_path: torch.optim.Adagrad}\n").setup;
        QCOMPARE(settingIn(setup, *fieldAt("optimizer.init_args.lr")), Value(0.01));
        QVERIFY(concernsClass(setup, *fieldAt("optimizer.init_args.lr_decay")));
        QVERIFY(!concernsClass(setup, *fieldAt("optimizer.init_args.betas")));
        QVERIFY(!concernsClass(setup, *fieldAt("lr_scheduler.init_args.gamma")));
        QVERIFY(setup.set("optimizer.init_args.lr", 0.5));
        QCOMPARE(settingIn(setup, *fieldAt("optimizer.init_args.lr")), Value(0.5));
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
