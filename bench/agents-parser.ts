// Measures how the prompt-mode parser's time grows with the length of the text: it must be close to linear.
import { createPromptCallParser } from '../server/llm/prompt-tools/call-parser.ts'
import { median, type Row } from './row.ts'

const SHORT = 100_000
const LONG = 1_000_000
const PIECE = 4
const ROUNDS = 7
const LIMIT = 12

const tools = new Map([['file_write', { type: 'object', properties: {} }]])

/** Prose of this length containing every construct that makes the parser hold text back. */
function prose(length: number): string {
  const part =
    'Some words with `code`, a {brace}, a < sign and a [list].\n\n```json\n{"name": "Bob", "age": 3}\n```\n\n' +
    '```python\nx = {"name": "file_write", "arguments": {}}\n```\n'
  return part.repeat(Math.ceil(length / part.length)).slice(0, length)
}

/** One call whose argument is as long as the text. */
const oneCall = (length: number): string =>
  JSON.stringify({
    tool_call: { name: 'file_write', arguments: { content: 'a "b"\n'.repeat(length / 9) } },
  })

const texts = { prose, oneCall }

/** CPU milliseconds to parse a text in chunks of four characters. CPU time excludes other programs on the machine. */
function measure(text: string): number {
  const parser = createPromptCallParser(tools)
  const start = process.cpuUsage()
  for (let at = 0; at < text.length; at += PIECE) parser.push(text.slice(at, at + PIECE))
  parser.end({ cutOff: false })
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** Alternates short and long texts; returns the worse ratio of medians of the two kinds of text. */
export async function run(): Promise<Row[]> {
  const ratios = Object.values(texts).map((make) => {
    const short = make(SHORT)
    const long = make(LONG)
    // Warm-up, so that the first rounds do not include compilation.
    for (const warm of [short, long, short]) measure(warm)
    const rounds = Array.from({ length: ROUNDS }, () => [measure(short), measure(long)] as const)
    return median(rounds.map(([, time]) => time)) / median(rounds.map(([time]) => time))
  })
  const value = Math.max(...ratios)
  return [
    {
      suite: 'agents',
      figure: 'prompt-mode parser: 1 MB vs. 100 KB of text, in 4-byte pieces',
      target: `≤ ${LIMIT} ×`,
      value,
      unit: '×',
      ok: value <= LIMIT,
    },
  ]
}
