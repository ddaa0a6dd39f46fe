#pragma once

#include "ui/pages/knowledge/shelf.h"
#include "ui/pages/page.h"

#include <vector>

class QLineEdit;
class QTextBrowser;
class QTreeWidget;
class QTreeWidgetItem;
class QUrl;

namespace mantissa::ui {

class ThemedLabel;

/// Articles, known errors and the rules, with what they have to do with each other and with the open set-up.
class KnowledgePage : public Page {
    Q_OBJECT

public:
    explicit KnowledgePage(const PageServices& services, QWidget* parent = nullptr);

    void activate() override;
    QString statusText() const override;

    /// Opens an article, a rule or a record by its id. False where there is none.
    bool open(const QString& id);
    QString openId() const;
    const std::vector<KnowledgeEntry>& entries() const { return m_entries; }
    QString articleText() const;
    QString factsText() const;
    QLineEdit& search() { return *m_search; }
    int shownCount() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    void buildHeader();
    QWidget* buildList();
    QWidget* buildFacts();
    void fillList();
    void colourList();
    void applySearch();
    void showEntry(const KnowledgeEntry& entry);
    void follow(const QUrl& url);
    QString factsOf(const KnowledgeEntry& entry) const;
    QString recordFacts(const ErrorRecord& record) const;
    QString inOpenSetup(const QString& rule) const;
    QString linksTo(const KnowledgeEntry& entry) const;

    PageServices m_services;
    std::vector<KnowledgeEntry> m_entries;
    const KnowledgeEntry* m_open = nullptr;
    QWidget* m_header = nullptr;
    QLineEdit* m_search = nullptr;
    ThemedLabel* m_nothing = nullptr;
    QTreeWidget* m_list = nullptr;
    QTextBrowser* m_article = nullptr;
    QTextBrowser* m_facts = nullptr;
};

} // namespace mantissa::ui
