#pragma once

#include <QJsonDocument>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace mantissa::test {

struct CommandResult {
    int exitCode = -1;
    QByteArray out;
    QByteArray err;
    QJsonDocument json() const { return QJsonDocument::fromJson(out); }
    /// The last line of standard output as JSON.
    QJsonDocument lastLine() const { return QJsonDocument::fromJson(out.trimmed().split('\n').last()); }
};

/// mantissa-cli with the scripted engine. `script` is MANTISSA_SCRIPT.
inline QProcessEnvironment scriptedEngine(const QString& script = {})
{
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("MANTISSA_ENGINE"), QStringLiteral(SCRIPTED_ENGINE));
    environment.insert(QStringLiteral("MANTISSA_SCRIPT"), script);
    return environment;
}

inline CommandResult runCommand(const QStringList& arguments, const QString& script = {})
{
    QProcess process;
    process.setProcessEnvironment(scriptedEngine(script));
    process.start(QStringLiteral(MANTISSA_CLI), arguments);
    if (!process.waitForFinished(60'000))
        return {};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            process.readAllStandardOutput(), process.readAllStandardError()};
}

} // namespace mantissa::test
