#pragma once

#include "engine/core/training_service.h"

#include <QObject>

#include <functional>
#include <memory>
#include <thread>

namespace mantissa::ui {

/// Loads the training engine on a thread of its own, once, when it is first asked for: the window opens
/// before. Everything but the loading itself happens on the window's thread.
class EngineLoader : public QObject {
    Q_OBJECT

public:
    enum class State { NotLoaded, Loading, Ready, Missing };

    using Load = std::function<Result<std::unique_ptr<TrainingService>>()>;

    explicit EngineLoader(Load load, QObject* parent = nullptr);
    ~EngineLoader() override;

    /// Starts loading; does nothing if that was done before. stateChanged() follows.
    void load();

    State state() const { return m_state; }
    TrainingService* service() const { return m_service.get(); } ///< Null until Ready.
    const EngineReport& report() const { return m_report; } ///< Of a Ready engine.
    const Error& error() const { return m_error; } ///< Of a Missing one.

signals:
    void stateChanged();

private:
    void finish(Result<std::unique_ptr<TrainingService>> loaded);

    Load m_load;
    State m_state = State::NotLoaded;
    std::unique_ptr<TrainingService> m_service;
    EngineReport m_report;
    Error m_error;
    std::jthread m_thread; // Last: ended before the rest goes away.
};

} // namespace mantissa::ui
