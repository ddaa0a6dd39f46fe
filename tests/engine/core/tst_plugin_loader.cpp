#include "engine/core/training_service.h"

#include <QTest>

using namespace mantissa;

class TestPluginLoader : public QObject {
    Q_OBJECT

private slots:
    void aMissingEngineSaysHowToGetIt()
    {
        const auto service = loadTrainingService("/nowhere/libmantissa_engine.so");

        QVERIFY(!service);
        QCOMPARE(service.error().code, ErrorCode::NotHere);
        QVERIFY(service.error().message.find("/nowhere/") != std::string::npos);
        QVERIFY(!service.error().hint.empty());
    }

    void anotherLibraryIsNoEngine()
    {
        const auto service = loadTrainingService("libsqlite3.so.0");

        QVERIFY(!service);
        QCOMPARE(service.error().code, ErrorCode::NotHere);
    }

    void anEngineIsLoadedAndDescribesItself()
    {
        const auto service = loadTrainingService(SCRIPTED_ENGINE);

        QVERIFY2(service, service ? "" : service.error().message.c_str());
        QCOMPARE((*service)->describe().name, std::string("Scripted engine"));
    }
};

QTEST_APPLESS_MAIN(TestPluginLoader)
#include "tst_plugin_loader.moc"
