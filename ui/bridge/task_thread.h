#pragma once

#include "engine/core/guarded.h"

#include <QObject>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace mantissa::ui {

/// Runs tasks one after another on a thread of its own; what a task returns arrives on the window's thread.
/// Tasks that wait are dropped when this goes away, and no answer comes after that. What a task throws
/// becomes the Error of its Result, or an empty answer where it returns no Result.
class TaskThread : public QObject {
    Q_OBJECT

public:
    explicit TaskThread(QObject* parent = nullptr);
    ~TaskThread() override;

    /// `work` runs on the thread, and must hold values only; `done` takes its result on the window's thread.
    template <typename Work, typename Done>
    void run(Work work, Done done)
    {
        push([this, work = std::move(work), done = std::move(done)]() mutable {
            auto result = std::make_shared<std::invoke_result_t<Work>>(
                answerOf(work)); // A queued functor must be copyable.
            QMetaObject::invokeMethod(
                this, [done, result]() mutable { done(std::move(*result)); }, Qt::QueuedConnection);
        });
    }

    /// Forgets the tasks that have not begun.
    void clear();

private:
    template <typename Work>
    static std::invoke_result_t<Work> answerOf(Work& work)
    {
        using Answer = std::invoke_result_t<Work>;
        if constexpr (requires(const Answer& answer) { answer.error(); }) {
            return guarded("a task of the window", work);
        } else {
            auto answer = guarded("a task of the window", [&] { return Result<Answer>(work()); });
            return answer ? *std::move(answer) : Answer{};
        }
    }

    void push(std::function<void()> task);
    void work(const std::stop_token& stop);

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<std::function<void()>> m_tasks;
    std::jthread m_thread; // Last: ended before the rest goes away.
};

} // namespace mantissa::ui
