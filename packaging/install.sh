#!/bin/sh
# Installs crossover into ~/.local/bin, without root: sh install.sh ARCHIVE, a file or an address that ends in .tar.gz.
# Its checksum, ARCHIVE.sha256, is checked before anything is written.
set -eu

fail() { echo "install.sh: $1" >&2; exit 1; }

[ $# = 1 ] || fail "which archive? sh install.sh crossover-VERSION-x86_64-linux.tar.gz, a file or an address"
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "crossover runs on Linux on x86-64, and this is $(uname -sm)"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2) || glibc=
[ -n "$glibc" ] || fail "crossover needs glibc 2.31 or later, and this Linux has another C library (Alpine has musl): \
take a machine or an image of Debian, Ubuntu or Fedora"
[ "${glibc%%.*}" -gt 2 ] || [ "${glibc#*.}" -ge 31 ] ||
  fail "crossover needs glibc 2.31 or later (Debian 11, Ubuntu 20.04), and this is $glibc"

into=${CROSSOVER_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
[ -n "$into" ] || fail "HOME is not set: CROSSOVER_INSTALL_DIR=FOLDER says where to install"
# A PATH with a relative folder would find the program from here alone.
case $into in /*) ;; *) into=$PWD/$into ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work" "$into/.crossover.new"' EXIT

fetch() { # ADDRESS FILE
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  else
    wget --quiet --output-document="$2" "$1"
  fi || fail "$1 could not be fetched: nothing was installed"
}
archive=$1
case $archive in
  http://* | https://*)
    archive=$work/${1##*/}
    fetch "$1" "$archive"
    fetch "$1.sha256" "$archive.sha256"
    ;;
  # A name, and no flag of the programs below.
  -*) archive=./$archive ;;
esac
[ -f "$archive" ] || fail "$archive: there is no such file"
[ -f "$archive.sha256" ] || fail "$archive.sha256 is missing: it lies beside the archive, fetch it too"

# The first line alone: what was fetched may be a page of a proxy.
line=$(head -n 1 "$archive.sha256" | tr -cd '[:print:]' | cut -c 1-100)
wanted=$(echo "${line%% *}" | tr A-F a-f)
case $wanted in *[!0-9a-f]*) wanted= ;; esac
[ ${#wanted} = 64 ] ||
  fail "$archive.sha256 does not begin with a checksum of 64 hex digits, but: $line; nothing was installed"
found=$(sha256sum <"$archive" | cut -d' ' -f1)
[ "$wanted" = "$found" ] || fail "$archive has the checksum $found and not $wanted: nothing was installed; fetch it again"

[ ! -d "$into/crossover" ] || fail "$into/crossover is a folder: CROSSOVER_INSTALL_DIR=FOLDER names another place"
mkdir -p "$into" 2>/dev/null && [ -w "$into" ] ||
  fail "$into cannot be written: CROSSOVER_INSTALL_DIR=FOLDER names another folder"
tar -xzf "$archive" -C "$work" --strip-components=1 --no-same-owner ||
  fail "$archive cannot be unpacked: nothing was installed; is there room in ${TMPDIR:-/tmp}?"
version=$("$work/crossover" --version) || fail "the program does not run here: nothing was installed"
# Renamed into place, so that a dashboard that runs keeps the program it started with.
cp "$work/crossover" "$into/.crossover.new" && mv "$into/.crossover.new" "$into/crossover" ||
  { rm -f "$into/.crossover.new"; fail "nothing was installed: is there room in $into?"; }
echo "$into/crossover is $version"
case ":$PATH:" in
  *":$into:"*) ;;
  *) echo "$into is not on your PATH: export PATH=\"$into:\$PATH\"" ;;
esac
