#pragma once

namespace mantissa {

/// Threads that one operation of one rank may use. LibTorch keeps one number for the whole process, which
/// every thread picks up at its first parallel operation: so this is called before the ranks start, never
/// from a rank.
void useThreads(int perRank);

} // namespace mantissa
