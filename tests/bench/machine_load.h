#pragma once

namespace mantissa::bench {

/// How many cores other processes keep busy while something is measured: a figure taken on a busy machine is
/// worth little, and says so.
class MachineLoad {
public:
    MachineLoad();
    double otherCores() const; ///< Since the object was made; 0 on a quiet machine.
    double ownSeconds() const; ///< CPU time of this process since then.

private:
    double m_whole; ///< CPU seconds of the whole machine so far.
    double m_own; ///< … and of this process.
    double m_began;
};

double peakResidentMegabytes();

} // namespace mantissa::bench
