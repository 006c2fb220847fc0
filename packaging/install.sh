#!/bin/sh
# Installs pi-subagents {{version}} for this user: fetches the archive and its checksums, compares
# them, and copies the program, its manual pages and its completions below a prefix.
#
#   PREFIX             where to install [default: ~/.local]
#   PI_SUBAGENTS_FROM  where the archive is, an address or file:///… [default: the release]
set -eu

version={{version}}
from=${PI_SUBAGENTS_FROM:-{{repository}}/releases/download/v$version}
prefix=${PREFIX:-$HOME/.local}

fail() {
    echo "error: $1" >&2
    exit 1
}

fetch() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document="$2" "$1"
    else
        fail "neither curl nor wget is here to fetch $1"
    fi
}

[ "$(uname -s)" = Linux ] || fail "pi-subagents runs on Linux only, and this is $(uname -s)"
case $(uname -m) in
    x86_64) triple=x86_64-unknown-linux-gnu ;;
    aarch64) triple=aarch64-unknown-linux-gnu ;;
    *) fail "there is no pi-subagents for $(uname -m)" ;;
esac
folder=pi-subagents-$version-$triple
archive=$folder.tar.gz

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 1' INT TERM HUP
cd "$place"
fetch "$from/$archive" "$archive" || fail "$from/$archive could not be fetched"
fetch "$from/SHA256SUMS" SHA256SUMS || fail "$from/SHA256SUMS could not be fetched"
grep " [ *]\{0,1\}$archive\$" SHA256SUMS >expected || fail "SHA256SUMS does not name $archive"
sha256sum --check --quiet expected >&2 || fail "$archive is not the file that SHA256SUMS describes; nothing was installed"
tar -xzf "$archive"
"./$folder/pi-subagents" --version >/dev/null || fail "the program does not start on this machine; it needs glibc"

share=$prefix/share
mkdir -p "$prefix/bin" "$share/man/man1" "$share/bash-completion/completions" \
    "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
# A program that runs cannot be overwritten, but another file can take its place.
cp "$folder/pi-subagents" "$prefix/bin/.pi-subagents.new"
mv -f "$prefix/bin/.pi-subagents.new" "$prefix/bin/pi-subagents"
cp "$folder"/man/man1/*.1 "$share/man/man1/"
cp "$folder/completions/pi-subagents.bash" "$share/bash-completion/completions/pi-subagents"
cp "$folder/completions/_pi-subagents" "$share/zsh/site-functions/"
cp "$folder/completions/pi-subagents.fish" "$share/fish/vendor_completions.d/"

echo "Installed pi-subagents $version: $prefix/bin/pi-subagents"
case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "Put $prefix/bin on your PATH to use it." ;;
esac
echo "Try it:  pi-subagents tour"
