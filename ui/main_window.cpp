#include "ui/main_window.h"

#include "ui/bridge/engine_loader.h"
#include "ui/document/kept_draft.h"
#include "ui/document/setup_document.h"
#include "ui/pages/navigation.h"
#include "ui/pages/page_catalogue.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/rail.h"
#include "ui/widgets/status_line.h"

#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

const auto kGeometryKey = QStringLiteral("window/geometry");
const auto kLastFileKey = QStringLiteral("window/lastFile");
constexpr QSize kSmallest(1280, 720);
constexpr QSize kLeast(960, 540); ///< Big fonts make a screen of 1280×720 as small as 1024×576.

} // namespace

MainWindow::MainWindow(const PageServices& services, QWidget* parent)
    : QMainWindow(parent), m_services(services)
{
    setMinimumSize(kLeast.boundedTo(screen()->availableSize()));
    resize(kSmallest);
    setAcceptDrops(true);
    buildPages();
    buildMenus();

    auto& navigation = m_services.navigation;
    connect(&navigation, &Navigation::pageAsked, this, qOverload<const QString&>(&MainWindow::showPage));
    connect(&navigation, &Navigation::runAsked, this, [this] { showPage(QStringLiteral("run")); });
    connect(&navigation, &Navigation::storedRunAsked, this, [this] { showPage(QStringLiteral("history")); });
    connect(&navigation, &Navigation::draftAsked, this, [this](const QString& yaml, const QString& name) {
        if (!mayDiscard())
            return;
        m_services.document.startFrom(yaml.toStdString(), name);
        showPage(QStringLiteral("compose"));
    });
    connect(&navigation, &Navigation::resumeDraftAsked, this, [this](const ResumeDraft& draft) {
        if (!mayDiscard())
            return;
        m_services.document.startFrom(
            draft.setupText, QString::fromStdString(draft.name) + QStringLiteral(".yaml"), draft.from);
        showPage(QStringLiteral("compose"));
    });
    connect(&navigation, &Navigation::resumeAsked, this, [this] { showPage(QStringLiteral("history")); });
    connect(&navigation, &Navigation::openAsked, this, &MainWindow::chooseFile);
    connect(&m_services.document, &SetupDocument::nameChanged, this, &MainWindow::showTitle);
    showTitle();
    restorePlace();
    showPage(0);
}

void MainWindow::buildPages()
{
    auto* central = new QWidget(this);
    auto* across = new QHBoxLayout(central);
    across->setContentsMargins(0, 0, 0, 0);
    across->setSpacing(0);
    m_rail = new Rail(central);
    across->addWidget(m_rail);
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    m_messages = new MessageBar(central);
    m_stack = new QStackedWidget(central);
    column->addWidget(m_messages);
    column->addWidget(m_stack, 1);
    across->addLayout(column, 1);

    auto* whole = new QWidget(this);
    auto* rows = new QVBoxLayout(whole);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    m_status = new StatusLine(m_services.document, m_services.engine, whole);
    rows->addWidget(central, 1);
    rows->addWidget(m_status);
    setCentralWidget(whole);

    for (const auto& entry : pageCatalogue()) {
        auto* page = entry.make(m_services).release();
        page->setObjectName(QLatin1String(entry.id));
        m_rail->addPage(QCoreApplication::translate("Pages", entry.title), QLatin1String(entry.icon),
                        entry.atTheEnd);
        m_stack->addWidget(page);
        m_pages.push_back(page);
        connect(page, &Page::statusTextChanged, this, &MainWindow::showStatus);
        connect(page, &Page::closeAllowed, this, &MainWindow::leave);
    }
    connect(m_rail, &Rail::pageChosen, this, qOverload<int>(&MainWindow::showPage));
    connect(m_status, &StatusLine::factsAsked, this, [this] {
        showPage(QStringLiteral("compose"));
        emit m_services.navigation.factsAsked();
    });
}

void MainWindow::buildMenus()
{
    m_menus = {menuBar()->addMenu(tr("&File")),   menuBar()->addMenu(tr("&Edit")),
               menuBar()->addMenu(tr("&Set-up")), menuBar()->addMenu(tr("&Run")),
               menuBar()->addMenu(tr("&View")),   menuBar()->addMenu(tr("&Help"))};
    buildFileMenu(*m_menus.file);

    auto& stack = m_services.document.undoStack();
    auto* undo = stack.createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    auto* redo = stack.createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z));
    m_menus.edit->addActions({undo, redo});

    buildViewMenu(*m_menus.view);
    for (auto* page : m_pages)
        page->addToMenus(m_menus);

    m_menus.file->addSeparator();
    auto* quit = m_menus.file->addAction(tr("&Quit"), this, &QWidget::close);
    quit->setShortcut(QKeySequence::Quit);
    m_menus.help->addAction(tr("About Mantissa"), this, [this] {
        QMessageBox::about(this, tr("About Mantissa"),
                           tr("Mantissa %1\nA workbench for mixed-precision training.\n\n"
                              "Licence: GPL-3.0-or-later")
                               .arg(QStringLiteral(MANTISSA_VERSION)));
    });
    for (auto* menu : {m_menus.setup, m_menus.run})
        menu->menuAction()->setVisible(!menu->isEmpty());
}

void MainWindow::buildFileMenu(QMenu& menu)
{
    menu.addAction(tr("&Open…"), QKeySequence::Open, this, &MainWindow::chooseFile);
    menu.addAction(tr("&Save"), QKeySequence::Save, this, &MainWindow::save);
    menu.addAction(tr("Save &as…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S), this,
                   &MainWindow::saveAs);
}

void MainWindow::buildViewMenu(QMenu& menu)
{
    int index = 0;
    for (const auto& entry : pageCatalogue()) {
        const QKeySequence keys(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + index));
        menu.addAction(QCoreApplication::translate("Pages", entry.title), keys, this,
                       [this, index] { showPage(index); });
        ++index;
    }
    menu.addSeparator();
    auto* themes = menu.addMenu(tr("&Theme"));
    auto* group = new QActionGroup(this);
    const QStringList names{tr("System"), tr("Light"), tr("Dark")};
    for (int choice = 0; choice < names.size(); ++choice) {
        auto* action = themes->addAction(names[choice], this, [this, choice] {
            m_services.appearance.setChoice(static_cast<ThemeChoice>(choice));
        });
        action->setCheckable(true);
        action->setChecked(choice == static_cast<int>(m_services.appearance.choice()));
        group->addAction(action);
    }
}

void MainWindow::showPage(int index)
{
    if (index < 0 || index >= static_cast<int>(m_pages.size()))
        return;
    m_stack->setCurrentIndex(index);
    m_rail->setCurrent(index);
    m_pages[static_cast<std::size_t>(index)]->activate();
    showStatus();
}

void MainWindow::showPage(const QString& id)
{
    if (auto* wanted = page(id))
        showPage(m_stack->indexOf(wanted));
}

Page* MainWindow::page(const QString& id) const
{
    for (auto* candidate : m_pages)
        if (candidate->objectName() == id)
            return candidate;
    return nullptr;
}

void MainWindow::showTitle()
{
    setWindowTitle(tr("%1[*] – Mantissa").arg(m_services.document.name()));
    setWindowModified(m_services.document.isModified());
}

void MainWindow::showStatus()
{
    m_status->setPageText(m_pages.empty()
                              ? QString()
                              : m_pages[static_cast<std::size_t>(m_stack->currentIndex())]->statusText());
}

void MainWindow::restorePlace()
{
    const QSettings settings;
    if (restoreGeometry(settings.value(kGeometryKey).toByteArray()))
        return;
    // A screen that just holds the smallest window is used whole.
    const auto room = screen()->availableSize();
    if (room.width() < kSmallest.width() + 80 || room.height() < kSmallest.height() + 80)
        setWindowState(windowState() | Qt::WindowMaximized);
    else
        resize(room.boundedTo(QSize(1440, 900)));
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    // After the first paint: loading LibTorch takes a quarter of a second.
    QTimer::singleShot(0, &m_services.engine, [this] { m_services.engine.load(); });
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    event->ignore();
    if (!m_exitCode && !mayLeaveText())
        return;
    for (auto* page : m_pages)
        if (m_exitCode ? !page->mayEnd(*m_exitCode) : !page->mayClose())
            return;
    QSettings settings;
    settings.setValue(kGeometryKey, saveGeometry());
    settings.setValue(kLastFileKey, m_services.document.path());
    event->accept();
    if (m_exitCode)
        QApplication::exit(*m_exitCode);
}

bool MainWindow::mayLeaveText()
{
    if (m_asking) // Closing goes on when that is answered.
        return false;
    const auto& text = m_services.document.text();
    if (!(m_leaving && m_answeredFor == text) && !mayDiscard())
        return m_exitCode.has_value(); // Told to end while the question was open.
    m_answeredFor = text;
    return true;
}

void MainWindow::end(int exitCode)
{
    m_exitCode = exitCode;
    if (m_services.document.isModified())
        keepDraft(m_services.document.draft());
    if (auto* box = qobject_cast<QDialog*>(QApplication::activeModalWidget()))
        box->reject();
    close();
}

/// A page that had to end something first is done. What was answered about unsaved changes still holds.
void MainWindow::leave()
{
    m_leaving = true;
    close();
    m_leaving = false;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const auto urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    event->acceptProposedAction();
    openFile(event->mimeData()->urls().front().toLocalFile());
}

} // namespace mantissa::ui
