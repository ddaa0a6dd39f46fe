#!/usr/bin/env bash
# under_x.sh COMMAND…: runs a command on an X server of its own with a window manager (without one nothing gets the
# keyboard focus). Exit code 77, "skipped", where there is no Xvfb or openbox. SCREEN: size, else 1280x720.
set -u
for program in Xvfb openbox; do
    command -v $program >/dev/null || { echo "under_x: no $program here: apt-get install xvfb openbox" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'kill ${manager:-} ${server:-} 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
Xvfb -displayfd 3 -screen 0 "${SCREEN:-1280x720}x24" -nolisten tcp 3>"$work/display" 2>"$work/log" &
server=$!
for _ in $(seq 100); do [ -s "$work/display" ] && break; sleep 0.05; done
[ -s "$work/display" ] || { cat "$work/log" >&2; echo "under_x: the X server did not start" >&2; exit 1; }
export DISPLAY=:$(cat "$work/display") QT_QPA_PLATFORM=xcb
openbox 2>/dev/null &
manager=$!
sleep 0.3
"$@"
