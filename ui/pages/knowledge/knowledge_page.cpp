#include "ui/pages/knowledge/knowledge_page.h"

#include "ui/document/setup_document.h"
#include "ui/pages/knowledge/reading.h"
#include "ui/pages/navigation.h"
#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/plain_table.h"

#include <QApplication>
#include <QEvent>
#include <QLineEdit>
#include <QShortcut>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kListWidth = 288;
constexpr int kFactsWidth = 272;
constexpr int kIdRole = Qt::UserRole;

QTextBrowser* makeBrowser(QWidget* parent, const QString& name)
{
    auto* browser = new QTextBrowser(parent);
    browser->setFrameShape(QFrame::NoFrame);
    browser->setOpenLinks(false);
    browser->setAccessibleName(name);
    return browser;
}

/// Rows as high as those of the other lists, chosen in the accent's weak colour.
class ListRow final : public RowDelegate {
public:
    using RowDelegate::RowDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const auto hint = RowDelegate::sizeHint(option, index);
        return {hint.width(), std::max(24, hint.height())};
    }
};

/// A title as the words of a link.
QString shortened(const QString& title)
{
    constexpr int kMost = 70;
    return title.size() > kMost ? title.left(kMost).trimmed() + u'…' : title;
}

QString listed(const std::vector<std::string>& words)
{
    QStringList list;
    for (const auto& word : words)
        list << QString::fromStdString(word);
    return list.join(QStringLiteral(", "));
}

} // namespace

KnowledgePage::KnowledgePage(const PageServices& services, QWidget* parent)
    : Page(parent), m_services(services), m_entries(readShelf())
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    buildHeader();
    column->addWidget(m_header);
    auto* across = new QHBoxLayout;
    across->setSpacing(0);
    across->addWidget(buildList());
    m_article = makeBrowser(this, tr("Article"));
    across->addWidget(m_article, 1);
    across->addWidget(buildFacts());
    column->addLayout(across, 1);

    fillList();
    connect(m_list, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
        if (item && !item->data(0, kIdRole).toString().isEmpty())
            open(item->data(0, kIdRole).toString());
    });
    for (auto* browser : {m_article, m_facts})
        connect(browser, &QTextBrowser::anchorClicked, this, &KnowledgePage::follow);
    connect(&m_services.navigation, &Navigation::ruleAsked, this, &KnowledgePage::open);
    connect(&m_services.document, &SetupDocument::changed, this, [this] {
        if (m_open && isVisible())
            showMarkdown(*m_facts, factsOf(*m_open), true);
    });
    if (!m_entries.empty())
        open(m_entries.front().id);
}

QWidget* KnowledgePage::buildList()
{
    auto* side = new Surface(&Theme::panel, Qt::RightEdge, this);
    auto* inside = new QVBoxLayout(side);
    inside->setContentsMargins(0, 6, 1, 0);
    m_nothing =
        new ThemedLabel(tr("Nothing here has all of these words. Try fewer, or one part of the message."),
                        uiFont(TextSize::Small), &Theme::text2, side);
    m_nothing->setWordWrap(true);
    m_nothing->setContentsMargins(12, 4, 12, 4);
    m_nothing->setFixedWidth(kListWidth);
    m_nothing->hide();
    inside->addWidget(m_nothing);
    m_list = new QTreeWidget(side);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setHeaderHidden(true);
    m_list->setItemDelegate(new ListRow(m_list));
    m_list->setIndentation(14);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setFixedWidth(kListWidth);
    m_list->setFont(uiFont(TextSize::Small));
    m_list->setTextElideMode(Qt::ElideRight);
    m_list->setAccessibleName(tr("What there is to read"));
    inside->addWidget(m_list, 1);
    return side;
}

QWidget* KnowledgePage::buildFacts()
{
    auto* right = new Surface(&Theme::panel, Qt::LeftEdge, this);
    auto* inside = new QHBoxLayout(right);
    inside->setContentsMargins(1, 0, 0, 0);
    m_facts = makeBrowser(right, tr("Facts"));
    m_facts->setFixedWidth(kFactsWidth);
    inside->addWidget(m_facts);
    return right;
}

void KnowledgePage::buildHeader()
{
    auto* header = new PageHeader(this);
    m_header = header;
    header->row().addWidget(
        new ThemedLabel(tr("Knowledge"), uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, header));
    m_search = new QLineEdit(header);
    m_search->setPlaceholderText(tr("Search, or paste an error message"));
    m_search->setAccessibleName(tr("Search articles, errors and rules"));
    m_search->setClearButtonEnabled(true);
    m_search->setMaximumWidth(420);
    m_search->addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    header->row().addSpacing(12);
    header->row().addWidget(m_search, 1);
    header->row().addStretch(1);
    connect(m_search, &QLineEdit::textChanged, this, &KnowledgePage::applySearch);
    auto* find = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_F), this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, m_search, qOverload<>(&QWidget::setFocus));
}

void KnowledgePage::fillList()
{
    QTreeWidgetItem* group = nullptr;
    for (const auto& entry : m_entries) {
        if (!group || group->text(0) != entry.group) {
            group = new QTreeWidgetItem(m_list, {entry.group});
            group->setFont(0, uiFont(TextSize::Small, QFont::DemiBold));
            group->setFlags(Qt::ItemIsEnabled);
            group->setExpanded(true);
        }
        auto* item = new QTreeWidgetItem(group, {entry.title});
        item->setData(0, kIdRole, entry.id);
        item->setToolTip(0, entry.title);
        if (entry.kind == KnowledgeEntry::Kind::Rule)
            item->setFont(0, monoFont(TextSize::Tiny));
    }
    m_list->expandAll();
    colourList();
}

/// The tree paints the space before a chosen row by its palette, whatever the delegate does.
void KnowledgePage::colourList()
{
    auto colours = QApplication::palette();
    colours.setColor(QPalette::Highlight, theme().accentWeak);
    m_list->setPalette(colours);
}

void KnowledgePage::applySearch()
{
    const auto text = m_search->text().trimmed();
    auto entry = m_entries.begin();
    for (int at = 0; at < m_list->topLevelItemCount(); ++at) {
        auto* group = m_list->topLevelItem(at);
        bool any = false;
        for (int row = 0; row < group->childCount(); ++row, ++entry) {
            const bool shown = concerns(*entry, text);
            group->child(row)->setHidden(!shown);
            any = any || shown;
        }
        group->setHidden(!any);
    }
    m_nothing->setVisible(shownCount() == 0);
    emit statusTextChanged();
}

int KnowledgePage::shownCount() const
{
    const auto text = m_search->text().trimmed();
    return static_cast<int>(
        std::count_if(m_entries.begin(), m_entries.end(),
                      [&](const KnowledgeEntry& entry) { return concerns(entry, text); }));
}

bool KnowledgePage::open(const QString& id)
{
    const auto entry = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const KnowledgeEntry& each) { return each.id == id; });
    if (entry == m_entries.end())
        return false;
    showEntry(*entry);
    for (QTreeWidgetItemIterator item(m_list); *item; ++item) {
        if ((*item)->data(0, kIdRole).toString() != id)
            continue;
        const QSignalBlocker quiet(m_list);
        m_list->setCurrentItem(*item);
    }
    return true;
}

QString KnowledgePage::openId() const
{
    return m_open ? m_open->id : QString();
}

void KnowledgePage::showEntry(const KnowledgeEntry& entry)
{
    m_open = &entry;
    showMarkdown(*m_article, entry.markdown);
    showMarkdown(*m_facts, factsOf(entry), true);
}

void KnowledgePage::follow(const QUrl& url)
{
    if (url.scheme() == QStringLiteral("setup"))
        emit m_services.navigation.pageAsked(QStringLiteral("compose"));
    else
        open(url.path());
}

QString KnowledgePage::inOpenSetup(const QString& rule) const
{
    const auto& findings = m_services.document.report().findings;
    const auto finding = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
        return rule == QString::fromStdString(each.rule);
    });
    if (finding == findings.end())
        return tr("%1 finds nothing in %2.\n\n").arg(rule, m_services.document.name());
    return tr("**%1**: %2 [Show it in %3](setup:open)\n\n")
        .arg(QString::fromStdString(severityWords(finding->severity, finding->stage)),
             QString::fromStdString(finding->message), m_services.document.name());
}

QString KnowledgePage::recordFacts(const ErrorRecord& record) const
{
    const auto row = [](const QString& name, const QString& value) {
        return value.isEmpty() ? QString() : QStringLiteral("**%1**  \n%2\n\n").arg(name, value);
    };
    const auto code = [](const std::string& text) {
        return text.empty() ? QString() : u'`' + QString::fromStdString(text) + u'`';
    };
    auto place = code(record.filePath);
    if (record.lineNumber > 0)
        place += tr(", line %1").arg(record.lineNumber);
    return row(tr("Project"),
               QString::fromStdString(record.repo + (record.version.empty() ? "" : ", " + record.version)))
        + row(tr("Raised at"), place) + row(tr("Exception"), code(record.errorClass))
        + row(tr("Severity"), QString::fromStdString(record.severity))
        + row(tr("Recognised by"), code(record.messagePattern)) + row(tr("Tags"), listed(record.tags))
        + row(tr("Record"), code(record.id));
}

QString KnowledgePage::linksTo(const KnowledgeEntry& entry) const
{
    QString links;
    for (const auto& other : m_entries) {
        const bool mentions = other.kind != KnowledgeEntry::Kind::Rule && &other != &entry
            && (other.markdown.contains(QStringLiteral("rule:%1)").arg(entry.id))
                || std::find(other.record.rules.begin(), other.record.rules.end(), entry.id.toStdString())
                    != other.record.rules.end()
                || QString::fromStdString(other.record.article) == entry.id
                || (!entry.record.article.empty()
                    && QString::fromStdString(entry.record.article) == other.id));
        if (mentions)
            links += QStringLiteral("- [%1](entry:%2)\n").arg(shortened(other.title), other.id);
    }
    for (const auto& rule : entry.record.rules)
        links += QStringLiteral("- [%1](rule:%1)\n").arg(QString::fromStdString(rule));
    return links.isEmpty() ? QString() : QStringLiteral("## %1\n\n%2\n").arg(tr("Related"), links);
}

QString KnowledgePage::factsOf(const KnowledgeEntry& entry) const
{
    QString text = QStringLiteral("## %1\n\n").arg(tr("Facts"));
    if (entry.kind == KnowledgeEntry::Kind::Record)
        text += recordFacts(entry.record);
    if (entry.kind == KnowledgeEntry::Kind::Rule)
        text += tr("**Rule**  \n`%1`\n\n").arg(entry.id)
            + QStringLiteral("## %1\n\n").arg(tr("In the open set-up")) + inOpenSetup(entry.id);
    if (entry.kind == KnowledgeEntry::Kind::Article)
        text += tr("Written for Lightning 2.6.6 and torch 2.11.\n\n");
    return text + linksTo(entry);
}

QString KnowledgePage::articleText() const
{
    return m_article->toPlainText();
}

QString KnowledgePage::factsText() const
{
    return m_facts->toPlainText();
}

void KnowledgePage::activate()
{
    if (m_open)
        showMarkdown(*m_facts, factsOf(*m_open), true); // The set-up may have changed since.
    if (!isAncestorOf(QApplication::focusWidget()))
        m_search->setFocus(Qt::OtherFocusReason);
}

QString KnowledgePage::statusText() const
{
    return tr("%1 of %2 to read")
        .arg(formatCount(shownCount()), formatCount(static_cast<std::int64_t>(m_entries.size())));
}

void KnowledgePage::changeEvent(QEvent* event)
{
    Page::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m_open || !m_article)
        return;
    colourList();
    showEntry(*m_open);
}

} // namespace mantissa::ui
