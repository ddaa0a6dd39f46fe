#pragma once

#include "engine/doctor/doctor.h"
#include "ui/bridge/task_thread.h"
#include "ui/pages/page.h"

#include <vector>

class QVBoxLayout;

namespace mantissa::ui {

class Segments;
class ThemedLabel;

/// What can be set, and what was found on this machine.
class SettingsPage : public Page {
    Q_OBJECT

public:
    explicit SettingsPage(const PageServices& services, QWidget* parent = nullptr);

    void addToMenus(const WindowMenus& menus) override;
    void activate() override;
    QString statusText() const override;

    Segments& themes() { return *m_themes; }
    /// Empty until the machine was looked at.
    const std::vector<Examined>& found() const { return m_found; }

private:
    void addAppearance(QVBoxLayout& column);
    void addHistory(QVBoxLayout& column);
    void addMachine(QVBoxLayout& column);
    void addPrivacy(QVBoxLayout& column);
    void look();
    void showReport(std::vector<Examined> found);
    void copyReport();

    PageServices m_services;
    Segments* m_themes = nullptr;
    QWidget* m_rows = nullptr;
    std::vector<Examined> m_found;
    TaskThread m_files; // Last: ended before the rest goes away.
};

} // namespace mantissa::ui
