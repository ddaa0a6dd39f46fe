#pragma once

#include <QString>

#include <cstdint>

namespace mantissa::ui {

/// How numbers read in the window. The only place that formats them.
QString formatCount(std::int64_t count); ///< "8,000"
QString formatBytes(std::uint64_t bytes); ///< "6.15 GB", "412 MB", "980 B"
QString formatDuration(double seconds); ///< "18:49", "1:02:03"; "–" below zero
QString formatNumber(double value, int digits = 4); ///< "0.4012", "3e-04", "65536", "NaN", "+Inf", "−Inf"
QString formatTime(const QString& iso); ///< "14:02", "yesterday 14:02", "23 Nov 14:02" of an ISO time

/// "1 rank", "8 ranks".
QString counted(std::int64_t count, const QString& one, const QString& many);

} // namespace mantissa::ui
