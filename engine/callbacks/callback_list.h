#pragma once

#include "engine/callbacks/callback.h"
#include "engine/metrics/sample.h"

#include <memory>
#include <string>
#include <vector>

namespace mantissa {

/// The callbacks of a run, in the order in which the set-up has them. A call goes to each in turn.
class CallbackList {
public:
    explicit CallbackList(const std::vector<CallbackPlan>& plans);
    /// For tests, and for callbacks that no set-up names.
    void add(std::string name, std::unique_ptr<Callback> callback);

    bool empty() const { return m_entries.empty(); }

    template <typename... Arguments>
    void call(void (Callback::*hook)(Arguments...), TrainingView& view)
    {
        for (auto& entry : m_entries)
            ((*entry.callback).*hook)(view);
    }
    bool onBeforeBackward(TrainingView& view, double loss); ///< False where one of them says so.

    /// By name: "EarlyStopping", "EarlyStopping#2".
    std::vector<std::pair<std::string, CallbackState>> stateDict() const;
    void loadStateDict(const std::vector<std::pair<std::string, CallbackState>>& states);

private:
    struct Entry {
        std::string name;
        std::unique_ptr<Callback> callback;
    };
    std::vector<Entry> m_entries;
};

/// The series that the callbacks of a plan add to those of every run.
std::vector<SeriesSpec> loggedSeries(const RunPlan& plan);

} // namespace mantissa
