# Shared by run, test and the other scripts here: one function a step. Source it; it moves to the top of the tree.
# Every step says what it does, costs seconds when there is nothing to do, and fails with one line that says what to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

MANTISSA_CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/mantissa"
BUILD=build/release
LOGS=build/logs

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then BOLD=$'\e[1m' PLAIN=$'\e[0m'; else BOLD='' PLAIN=''; fi
say() { printf '%s==>%s %s\n' "$BOLD" "$PLAIN" "$*" >&2; }
fail() { printf 'mantissa: %s\n' "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else fail "these packages are missing: ${missing[*]}. Install them as root, or install sudo, and run this again."
    fi
}

# step NAME COMMAND…: runs a command with its output in a log file, and shows the log's end if it fails.
step() {
    local name=$1 log="$LOGS/${1// /-}.log"
    shift
    mkdir -p "$LOGS"
    if ! "$@" >"$log" 2>&1; then
        tail -n 25 "$log" >&2
        return 1
    fi
}

BUILD_PACKAGES=(g++ cmake ninja-build ccache mold python3 python3-pip ca-certificates
    qt6-base-dev qt6-svg-dev libqcustomplot-dev libsqlitecpp-dev libsqlite3-dev libyaml-cpp-dev nlohmann-json3-dev
    zlib1g-dev libcli11-dev dataset-fashion-mnist fonts-inter fonts-jetbrains-mono)
TEST_PACKAGES=(xvfb openbox xdotool x11-utils imagemagick sqlite3 clang-format)

need_packages() {
    local package
    missing=()
    command -v dpkg-query >/dev/null || { say "Not a Debian system: taking the libraries to be there"; return 0; }
    local installed
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | awk '$2 == "installed" { print $1 }') || true
    for package in "$@"; do
        grep -qx "$package" <<<"$installed" || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return 0
    say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
    step "packages" as_root env DEBIAN_FRONTEND=noninteractive sh -c \
        'apt-get update -q && apt-get install -y -q --no-install-recommends "$@"' sh "${missing[@]}" \
        || fail "the packages could not be installed (see $LOGS/packages.log). Install them by hand: apt-get install ${missing[*]}"
}

# The folder whose libraries are whole: every file has the size it had when it was unpacked.
libtorch_is_whole() {
    local folder=$1 size file
    [ -f "$folder/.unpacked" ] || return 1
    cmp -s packaging/libtorch.txt "$folder/.versions" || return 1
    while read -r size file; do
        [ "$(stat -c %s "$folder/$file" 2>/dev/null)" = "$size" ] || return 1
    done <"$folder/.unpacked"
}

# pip checks each wheel against its checksum in libtorch.txt and refuses a broken one.
fetch_wheels() {
    local folder=$1 attempt
    for attempt in 1 2 3; do
        rm -rf "$folder" && mkdir -p "$folder"
        if step "libtorch" python3 -m pip download --no-deps --no-cache-dir --disable-pip-version-check --progress-bar off \
            --require-hashes --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 --abi none \
            --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux_2_17_x86_64 \
            --platform manylinux2014_x86_64 --dest "$folder" -r packaging/libtorch.txt; then
            return 0
        fi
        say "The download was broken or cut off; trying again ($attempt of 3)"
    done
    return 1
}

need_libtorch() {
    if [ -n "${MANTISSA_TORCH_DIR:-}" ]; then
        [ -f "$MANTISSA_TORCH_DIR/torch/lib/libtorch_cpu.so" ] \
            || fail "MANTISSA_TORCH_DIR=$MANTISSA_TORCH_DIR has no torch/lib/libtorch_cpu.so. Point it at the folder that holds torch/, or unset it."
        return 0
    fi
    local version place free
    version=$(sed -n 's/^torch==\([^ ]*\).*/\1/p' packaging/libtorch.txt)
    place="$MANTISSA_CACHE/libtorch-$version"
    libtorch_is_whole "$place" && return 0
    [ "$(uname -m)" = x86_64 ] || fail "LibTorch's wheel is for x86_64. Build LibTorch $version yourself and set MANTISSA_TORCH_DIR."
    mkdir -p "$MANTISSA_CACHE"
    free=$(df -Pm "$MANTISSA_CACHE" | awk 'NR == 2 { print $4 }')
    [ "$free" -ge 2000 ] || fail "LibTorch needs 2 GB in $MANTISSA_CACHE and $free MB are free. Free some, or set XDG_CACHE_HOME to a larger disk."
    say "Fetching LibTorch $version (0.5 GB, once, into $place)"
    local work="$place.part.$$"
    trap 'rm -rf "$work"' RETURN
    fetch_wheels "$work/wheels" \
        || fail "LibTorch could not be fetched (see $LOGS/libtorch.log). Check the network and run this again, or set MANTISSA_TORCH_DIR."
    say "Unpacking"
    step "unpack" python3 packaging/unpack_libtorch.py "$work/wheels" "$work/tree" \
        || fail "LibTorch could not be unpacked (see $LOGS/unpack.log). Is the disk full? Run this again."
    cp packaging/libtorch.txt "$work/tree/.versions"
    rm -rf "$place"
    mv "$work/tree" "$place"
}

build_all() {
    if [ ! -f "$BUILD/build.ninja" ] || [ -n "${MANTISSA_TORCH_DIR:-}" ]; then
        say "Configuring"
        step "configure" cmake --preset release \
            || fail "the build could not be configured (see $LOGS/configure.log). Remove build/ and run this again."
    fi
    # About 1 GB for each file that sees LibTorch.
    local jobs memory
    memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
    jobs=$(nproc); [ "$memory" -ge "$jobs" ] || jobs=$((memory > 0 ? memory : 1))
    say "Building with $jobs jobs ($(ccache --version 2>/dev/null | head -n 1 || echo 'no ccache'))"
    if [ -t 2 ]; then
        NINJA_STATUS='[%f/%t] ' ninja -C "$BUILD" -j "$jobs" "$@" >&2 || fail "the build failed; the first error is above."
    else
        step "build" ninja -C "$BUILD" -j "$jobs" "$@" || fail "the build failed (see $LOGS/build.log); its end is above."
    fi
}
