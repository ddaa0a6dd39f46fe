#include "engine/recipe/field.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/setup.h"

#include <QTest>

#include <set>

using namespace mantissa;

namespace {

Setup withCallbacks()
{
    const auto stopping = ValueMap{{"class_path", "lightning.pytorch.callbacks.EarlyStopping"},
                                   {"init_args", ValueMap{{"monitor", "val_loss"}, {"patience", 5}}}};
    const auto timer = ValueMap{{"class_path", "lightning.pytorch.callbacks.Timer"}};
    return Setup(ValueMap{{"trainer",
                           ValueMap{{"precision", "16-mixed"},
                                    {"gradient_clip_val", Null{}},
                                    {"strategy", "fsdp"},
                                    {"callbacks", ValueList{Value(timer), Value(stopping), Value(timer)}}}}});
}

} // namespace

class TestSetup : public QObject {
    Q_OBJECT

private slots:
    void tellsAbsentNullAndValueApart()
    {
        const auto setup = withCallbacks();

        QVERIFY(setup.at("trainer.max_epochs").isAbsent());
        QVERIFY(setup.at("trainer.gradient_clip_val").isNull());
        QCOMPARE(setup[field::precision].asString(), std::string("16-mixed"));
    }

    void findsListEntriesByClass()
    {
        const auto setup = withCallbacks();

        QCOMPARE(setup.at("trainer.callbacks[EarlyStopping].patience").asInteger(), 5);
        QCOMPARE(setup.at("trainer.callbacks[1].init_args.patience").asInteger(), 5);
        QVERIFY(setup.has("trainer.callbacks[Timer#2]"));
        QVERIFY(!setup.has("trainer.callbacks[Timer#3]"));
    }

    void fillsInDefaultsFromTheTable()
    {
        const Setup empty;

        QCOMPARE(empty.effective(field::precision).asString(), std::string("32-true"));
        QVERIFY(empty.effective(field::clipValue).isAbsent());
        QCOMPARE(empty.effective(field::betas).text(), std::string("[0.9, 0.999]"));
        QCOMPARE(withCallbacks().effective(field::clipAlgorithm).asString(), std::string("norm"));
    }

    void makesWhatIsMissingOnTheWay()
    {
        Setup setup;

        QVERIFY(setup.set("trainer.callbacks[EarlyStopping].patience", 3));

        QCOMPARE(setup.root().text(),
                 std::string("{trainer: {callbacks: [{class_path: lightning.pytorch.callbacks.EarlyStopping, "
                             "init_args: {patience: 3}}]}}"));
    }

    void anAliasBecomesAnObjectWhenItGetsAnArgument()
    {
        auto setup = withCallbacks();

        QVERIFY(setup.set("trainer.strategy.init_args.state_dict_type", "sharded"));

        QCOMPARE(setup[field::strategy].text(),
                 std::string("{class_path: lightning.pytorch.strategies.FSDPStrategy, "
                             "init_args: {state_dict_type: sharded}}"));
    }

    void refusesToPutASettingInsideAScalar()
    {
        auto setup = withCallbacks();
        const auto before = setup;

        const auto done = setup.set("trainer.precision.bits", 16);

        QVERIFY(!done);
        QVERIFY(done.error().message.find("16-mixed") != std::string::npos);
        QCOMPARE(setup, before);
    }

    void removingALastSettingRemovesItsEmptyMaps()
    {
        Setup setup;
        QVERIFY(setup.set("optimizer.init_args.fused", true));

        setup.unset("optimizer.init_args.fused");
        setup.unset("no.such.thing");

        QCOMPARE(setup, Setup());
    }

    void appliesAllEditsOrNone()
    {
        const auto setup = withCallbacks();

        const auto good = applyEdits(setup,
                                     {{EditOp::Set, "trainer.precision", "bf16-mixed"},
                                      {EditOp::Remove, "trainer.callbacks[Timer#2]", {}},
                                      {EditOp::Append, "mantissa.notes_list", "x"}});
        const auto bad = applyEdits(
            setup, {{EditOp::Unset, "trainer.precision", {}}, {EditOp::Append, "trainer.strategy.x", 1}});

        QVERIFY(good);
        QCOMPARE(good->at("trainer.callbacks").asList().size(), std::size_t{2});
        QVERIFY(!bad);
    }

    void theDiffOfAnEditedSetupSaysWhatWasEdited()
    {
        const auto before = withCallbacks();
        const auto after = applyEdits(before,
                                      {{EditOp::Set, "trainer.callbacks[EarlyStopping].patience", 9},
                                       {EditOp::Set, "optimizer.init_args.lr", 0.1},
                                       {EditOp::Unset, "trainer.strategy", {}}});
        QVERIFY(after);

        const auto found = diff(before, *after);

        QCOMPARE(found.size(), std::size_t{3});
        QCOMPARE(found[0].path, std::string("trainer.strategy"));
        QVERIFY(found[0].after.isAbsent());
        QCOMPARE(found[1], (Difference{"trainer.callbacks[EarlyStopping].patience", 5, 9}));
        QCOMPARE(found[2], (Difference{"optimizer.init_args.lr", Value(), 0.1}));
        QVERIFY(diff(before, before).empty());
    }

    void everyFieldIsWholeAndUnique()
    {
        std::set<std::string_view> paths;
        std::set<std::string_view> knobs;
        for (const auto* field : allFields()) {
            const std::string name(field->path);
            QVERIFY2(paths.insert(field->path).second, name.c_str());
            QVERIFY2(field->knob.empty() || knobs.insert(field->knob).second, name.c_str());
            QVERIFY2(!field->label.empty() && field->help.ends_with("."), name.c_str());
            QVERIFY2(fieldAt(field->path) == field, name.c_str());
            const auto value = field->defaultValue();
            QVERIFY2(field->type != FieldType::Bool || value.isAbsent() || value.isBool(), name.c_str());
            QVERIFY2(field->type != FieldType::Integer || value.isAbsent() || value.isInteger(),
                     name.c_str());
            QVERIFY2(field->type != FieldType::Number || value.isAbsent() || value.isNumber(), name.c_str());
            QVERIFY2(field->type != FieldType::List || value.isAbsent() || value.isList(), name.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestSetup)
#include "tst_setup.moc"
