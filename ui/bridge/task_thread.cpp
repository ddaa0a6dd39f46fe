#include "ui/bridge/task_thread.h"

namespace mantissa::ui {

TaskThread::TaskThread(QObject* parent)
    : QObject(parent), m_thread([this](const std::stop_token& stop) { work(stop); })
{
}

TaskThread::~TaskThread()
{
    clear();
    m_thread.request_stop();
}

void TaskThread::clear()
{
    const std::scoped_lock lock(m_mutex);
    m_tasks.clear();
}

void TaskThread::push(std::function<void()> task)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    m_changed.notify_one();
}

void TaskThread::work(const std::stop_token& stop)
{
    while (true) {
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait(lock, stop, [this] { return !m_tasks.empty(); }))
            return;
        auto task = std::move(m_tasks.front());
        m_tasks.pop_front();
        lock.unlock();
        task();
    }
}

} // namespace mantissa::ui
