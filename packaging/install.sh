#!/bin/sh
# Installs crossover into ~/.local/bin, without root: sh install.sh [ARCHIVE.tar.gz]
# Without an archive, that of CROSSOVER_DOWNLOAD (an address of a folder of releases) is fetched. The checksum beside the
# archive, ARCHIVE.tar.gz.sha256, is checked before anything is written.
set -eu

fail() { echo "install.sh: $1" >&2; exit 1; }

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "crossover runs on Linux on x86-64, and this is $(uname -sm)"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2) || glibc=
[ -n "$glibc" ] || fail "crossover needs glibc 2.31 or later, and this Linux has another C library (Alpine has musl)"
[ "${glibc%%.*}" -gt 2 ] || [ "${glibc#*.}" -ge 31 ] || fail "crossover needs glibc 2.31 or later, and this is $glibc"

into=${CROSSOVER_INSTALL_DIR:-$HOME/.local/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -gt 0 ]; then
  archive=$1
  [ -f "$archive" ] || fail "$archive: there is no such file"
  [ -f "$archive.sha256" ] || fail "$archive.sha256 is missing: it lies beside the archive"
else
  [ -n "${CROSSOVER_DOWNLOAD:-}" ] ||
    fail "which archive? sh install.sh crossover-VERSION-x86_64-linux.tar.gz, or CROSSOVER_DOWNLOAD=ADDRESS sh install.sh"
  name=crossover-x86_64-linux.tar.gz
  for file in "$name" "$name.sha256"; do
    if command -v curl >/dev/null; then
      curl --fail --silent --show-error --location --output "$work/$file" "$CROSSOVER_DOWNLOAD/$file"
    else
      wget --quiet --output-document="$work/$file" "$CROSSOVER_DOWNLOAD/$file"
    fi || fail "$CROSSOVER_DOWNLOAD/$file could not be fetched: nothing was installed"
  done
  archive=$work/$name
fi

wanted=$(cut -d' ' -f1 <"$archive.sha256")
found=$(sha256sum "$archive" | cut -d' ' -f1)
[ "$wanted" = "$found" ] || fail "$archive has the checksum $found and not $wanted: nothing was installed; fetch it again"

tar -xzf "$archive" -C "$work" --strip-components=1 --no-same-owner || fail "$archive cannot be unpacked"
mkdir -p "$into" || fail "$into cannot be made: CROSSOVER_INSTALL_DIR names another folder"
# Renamed into place, so that a dashboard that runs keeps the program it started with.
cp "$work/crossover" "$into/.crossover.new" && mv "$into/.crossover.new" "$into/crossover" ||
  fail "$into/crossover cannot be written: CROSSOVER_INSTALL_DIR names another folder"
"$into/crossover" --version
case ":$PATH:" in
  *":$into:"*) ;;
  *) echo "$into is not on your PATH: export PATH=\"$into:\$PATH\"" ;;
esac
