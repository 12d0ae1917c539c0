#!/bin/sh
# sh install.sh <archive or URL>: installs the package of a release for all commands of this user. Checks Node, compares the checksum with
# SHA256SUMS beside the archive, and adds the SQLite driver that Node 20 needs. Needs no compiler on Node 22 and later.
set -eu

source=${1:-}
if [ -z "$source" ]; then
  echo "Usage: sh install.sh <nanoclaw-….tgz or its URL>" >&2
  exit 2
fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "NanoClaw needs Node 22.14, 24 or later with npm: https://nodejs.org/en/download" >&2
  exit 1
fi
if ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a >= 24 || (a === 22 && b >= 14) || (a === 20 && b >= 19) ? 0 : 1)'; then
  echo "NanoClaw needs Node 20.19, 22.14, 24 or later; this is $(node --version)." >&2
  exit 1
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $source in
  http://* | https://*)
    if ! command -v curl >/dev/null; then
      echo "curl is not installed. Install it, or download the archive and the SHA256SUMS beside it, and name the file instead." >&2
      exit 1
    fi
    address=${source%%\?*}
    # Such as a token, which the checksums need, too.
    query=${source#"$address"}
    archive=$folder/${address##*/}
    curl -fsSL -o "$archive" "$source"
    curl -fsSL -o "$folder/SHA256SUMS" "${address%/*}/SHA256SUMS$query"
    ;;
  *)
    archive=$folder/${source##*/}
    cp "$source" "$archive"
    cp "$(dirname "$source")/SHA256SUMS" "$folder/SHA256SUMS"
    ;;
esac
node -e '
  const { createHash } = require("node:crypto")
  const { readFileSync } = require("node:fs")
  const [archive, sums] = process.argv.slice(1)
  const sum = createHash("sha256").update(readFileSync(archive)).digest("hex")
  if (!readFileSync(sums, "utf8").split("\n").includes(`${sum}  ${archive.split("/").at(-1)}`)) {
    console.error("The archive does not have the checksum in SHA256SUMS. Nothing was installed.")
    process.exit(1)
  }
' "$archive" "$folder/SHA256SUMS"

if [ "$(node -p 'process.versions.node.split(".")[0]')" = 20 ]; then
  npm install -g "$archive" better-sqlite3-12@npm:better-sqlite3@12.11.1
else
  npm install -g "$archive"
fi
echo "Installed. Start it with: nanoclaw start   (as a service: nanoclaw service install)"
