#include "ui/bridge/engine_loader.h"

#include "engine/core/guarded.h"

#include <QMetaObject>

namespace mantissa::ui {

EngineLoader::EngineLoader(Load load, QObject* parent) : QObject(parent), m_load(std::move(load)) {}

EngineLoader::~EngineLoader() = default;

void EngineLoader::load()
{
    if (m_state != State::NotLoaded)
        return;
    m_state = State::Loading;
    emit stateChanged();
    m_thread = std::jthread([this] {
        // Shared: a queued functor must be copyable.
        auto loaded =
            std::make_shared<Result<std::unique_ptr<TrainingService>>>(guarded("loading the engine", m_load));
        QMetaObject::invokeMethod(
            this, [this, loaded] { finish(std::move(*loaded)); }, Qt::QueuedConnection);
    });
}

void EngineLoader::finish(Result<std::unique_ptr<TrainingService>> loaded)
{
    if (loaded) {
        m_service = *std::move(loaded);
        m_report = m_service->describe();
        m_state = State::Ready;
    } else {
        m_error = loaded.error();
        m_state = State::Missing;
    }
    emit stateChanged();
}

} // namespace mantissa::ui
