#include "app/desktop/workbench.h"

#include <QApplication>
#include <QCommandLineParser>

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("mantissa"));
    QApplication::setApplicationName(QStringLiteral("mantissa"));
    QApplication::setApplicationVersion(QStringLiteral(MANTISSA_VERSION));
    QApplication::setApplicationDisplayName(QStringLiteral("Mantissa"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/mantissa.svg")));

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QApplication::translate("main", "A workbench for mixed-precision training."));
    const QCommandLineOption history(QStringLiteral("history"),
                                     QApplication::translate("main", "The folder with all runs."),
                                     QStringLiteral("folder"));
    parser.addOption(history);
    parser.addPositionalArgument(QStringLiteral("file"), QApplication::translate("main", "A set-up to open."),
                                 QStringLiteral("[file]"));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.process(application);

    const auto files = parser.positionalArguments();
    mantissa::Workbench workbench({parser.value(history).toStdString(), files.value(0)});
    workbench.show();
    return QApplication::exec();
}
