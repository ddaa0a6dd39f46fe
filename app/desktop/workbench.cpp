#include "app/desktop/workbench.h"

#include "engine/history/run_reader.h"

namespace mantissa {

Workbench::Workbench(const WorkbenchOptions& options)
    : m_engine([] { return loadTrainingService(); }),
      m_window({m_document, m_engine, m_navigation, m_appearance,
                options.history.empty() ? defaultHistory() : options.history})
{
    if (m_window.restoreDraft(options.file))
        return;
    if (!options.file.isEmpty())
        m_window.openFile(options.file);
    else
        m_window.openLastFile();
}

void Workbench::show()
{
    m_window.show();
}

} // namespace mantissa
