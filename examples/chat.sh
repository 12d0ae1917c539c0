#!/usr/bin/env bash
# A chat in the shell: creates a conversation, sends a message, prints the events of the answer as they arrive.
# Usage: ./examples/chat.sh "What is 12 * 34?"    Optional environment: NANOCLAW_URL, NANOCLAW_KEY (an API key, in multi-user mode).
set -euo pipefail
url="${NANOCLAW_URL:-http://127.0.0.1:3000}"
headers=(-H "content-type: application/json")
if [ -n "${NANOCLAW_KEY:-}" ]; then headers+=(-H "authorization: Bearer $NANOCLAW_KEY"); fi

conversation="$(curl -sS --fail "${headers[@]}" -d '{}' "$url/api/conversations" | sed 's/.*"data":{"id":"\([^"]*\)".*/\1/')"
question="$(printf '%s' "${1:-What is 12 * 34?}" | sed 's/\\/\\\\/g; s/"/\\"/g')"
curl -sSN --fail "${headers[@]}" -d "{\"text\":\"$question\",\"stream_mode\":\"delta\"}" \
  "$url/api/conversations/$conversation/messages"
