#include "app/desktop/end_on_signal.h"
#include "app/desktop/workbench.h"

#include <QApplication>
#include <QCommandLineParser>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

constexpr int kNoDisplay = 2;

bool canShowWindows(int argc, char** argv)
{
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (const char* value = std::getenv(name); value && *value)
            return true;
    return std::any_of(argv + 1, argv + argc,
                       [](std::string_view word) { return word == "-platform" || word == "--platform"; });
}

int tellNoDisplay(const QString& cause)
{
    std::fprintf(stderr,
                 "mantissa: there is no display to open a window on: %s. Without one, packaging/run "
                 "--headless or mantissa-cli train FILE trains.\n",
                 qPrintable(cause));
    return kNoDisplay;
}

/// Qt ends the process where a display that is named does not answer.
void leaveWithoutDisplay(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    if (type == QtFatalMsg)
        std::_Exit(tellNoDisplay(QStringLiteral("DISPLAY names one that does not answer")));
    if (type == QtCriticalMsg)
        std::fprintf(stderr, "%s\n", qPrintable(text));
}

std::unique_ptr<QApplication> openDisplay(int& argc, char** argv)
{
    const auto before = qInstallMessageHandler(leaveWithoutDisplay);
    auto application = std::make_unique<QApplication>(argc, argv);
    qInstallMessageHandler(before);
    return application;
}

struct Asked {
    QString history;
    QString file;
};

/// Answers --help, --version and what it does not know by ending the process.
Asked readArguments(const QCoreApplication& application)
{
    QCoreApplication::setApplicationVersion(QStringLiteral(MANTISSA_VERSION));
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QCoreApplication::translate("main", "A workbench for mixed-precision training."));
    const QCommandLineOption history(QStringLiteral("history"),
                                     QCoreApplication::translate("main", "The folder with all runs."),
                                     QStringLiteral("folder"));
    parser.addOption(history);
    parser.addPositionalArgument(QStringLiteral("file"),
                                 QCoreApplication::translate("main", "A set-up to open."),
                                 QStringLiteral("[file]"));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.process(application);
    return {parser.value(history), parser.positionalArguments().value(0)};
}

} // namespace

int main(int argc, char** argv)
{
    if (!canShowWindows(argc, argv)) {
        const QCoreApplication application(argc, argv);
        (void)readArguments(application);
        return tellNoDisplay(QStringLiteral("neither DISPLAY nor WAYLAND_DISPLAY is set"));
    }
    mantissa::InterruptWatch interrupts; // Before any thread, so that none of them takes a signal.
    const auto application = openDisplay(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("mantissa"));
    QApplication::setApplicationName(QStringLiteral("mantissa"));
    QApplication::setApplicationDisplayName(QStringLiteral("Mantissa"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/mantissa.svg")));

    const auto asked = readArguments(*application);
    mantissa::Workbench workbench({asked.history.toStdString(), asked.file});
    const mantissa::EndOnSignal ending(interrupts, [&](int exitCode) { workbench.end(exitCode); });
    workbench.show();
    return QApplication::exec();
}
