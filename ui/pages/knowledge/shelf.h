#pragma once

#include "engine/knowledge/error_record.h"

#include <QString>

#include <vector>

namespace mantissa::ui {

/// One thing to read: an article, the section of a rule, or an error record.
struct KnowledgeEntry {
    enum class Kind { Article, Rule, Record };
    Kind kind = Kind::Article;
    QString id; ///< "unscaling", "fsdp-clip-norm", "fsdp-scaler-refused"
    QString group; ///< Heading in the list.
    QString title;
    QString markdown;
    ErrorRecord record; ///< Of a Record.
};

/// All that ships to be read, in the order of the list.
std::vector<KnowledgeEntry> readShelf();

/// Whether an entry has to do with a text: its words, or, for a record, an error that its pattern recognises.
bool concerns(const KnowledgeEntry& entry, const QString& text);

/// The entry that explains an error best: the record that recognises it. Empty where none does.
QString explanationOf(const QString& error);
/// The rules that find the error of a record before it happens.
std::vector<std::string> rulesOf(const QString& record);

} // namespace mantissa::ui
