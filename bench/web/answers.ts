// The scripted answers that the page benchmarks stream.
import {
  type Action,
  chunk,
  dataLine,
  type Turn,
} from '../../tests/support/provider/upstream-turns.ts'

const part = (number: number): string => `## Part ${number}

A paragraph with **bold**, *italic*, \`code\` and a [link](https://example.org) in a sentence of ordinary length.

| name | value |
| --- | ---: |
| alpha | ${number} |
| beta | ${number * 2} |

\`\`\`python
def part_${number}(values):
    """What part ${number} computes."""
    return [value * ${number} for value in values if value % 2 == 0]

print(part_${number}(range(10)))
\`\`\`

- first point of part ${number}
- second point, a little longer than the first one
`

/** Markdown of about this many tokens, at five characters per token. */
export function markdown(tokens: number): string {
  let text = ''
  for (let number = 1; text.length < tokens * 5; number += 1) text += part(number)
  return text.slice(0, tokens * 5)
}
/** Contents that are one block, which grows to the end of the answer. */
export const ONE_BLOCK = ['table', 'list', 'paragraph', 'code'] as const
/** What an answer consists of: one block, or the mixed text of `markdown`. */
export type Content = (typeof ONE_BLOCK)[number] | 'mixed'

const SENTENCE =
  'The value of **this** entry is *higher* than `expected`, as [the source](https://example.org) says. '

const LINES: Record<Exclude<Content, 'mixed'>, (number: number) => string> = {
  table: (number) =>
    `| row ${number} | **${number * 7}** units | \`code_${number}\` | a few words |\n`,
  list: (number) => `- point ${number} with **bold** words and \`code\`\n`,
  paragraph: () => SENTENCE,
  code: (number) => `    value_${number} = compute(${number}, "text")  # line ${number}\n`,
}
const STARTS: Partial<Record<Content, string>> = {
  table: '| name | amount | code | remark |\n| --- | ---: | --- | --- |\n',
  code: '```python\n',
}

/** A text of this many tokens, at five characters per token. */
function contentOf(content: Content, tokens: number): string {
  if (content === 'mixed') return markdown(tokens)
  let text = STARTS[content] ?? ''
  for (let number = 1; text.length < tokens * 5; number += 1) text += LINES[content](number)
  return text.slice(0, tokens * 5)
}

const CONTENT_TOKENS = 4_000

/** 3,000 tokens of one content in a burst, then 1,000 at 200 per second, in pieces of five. */
export function contentAnswer(content: Content): Turn {
  const text = contentOf(content, CONTENT_TOKENS)
  const actions: Action[] = []
  for (let at = 0; at < CONTENT_TOKENS - MEASURED_CONTENT; at += 100)
    actions.push({ send: dataLine(chunk({ content: text.slice(at * 5, (at + 100) * 5) })) })
  for (let at = CONTENT_TOKENS - MEASURED_CONTENT; at < CONTENT_TOKENS; at += 5)
    actions.push(
      { wait: (5 / TOKENS_PER_SECOND) * 1_000 },
      { send: dataLine(chunk({ content: text.slice(at * 5, (at + 5) * 5) })) },
    )
  return finished(actions)
}

/** The tokens of `contentAnswer` that arrive at 200 per second. */
export const MEASURED_CONTENT = 1_000

const BURST_TOKENS = 8_000
const MEASURED_TOKENS = 1_600
const TOKENS_PER_SECOND = 200

/** 8,000 tokens in a burst, then 200 per second while the page is measured. */
export function longAnswer(): Turn {
  const text = markdown(BURST_TOKENS + MEASURED_TOKENS)
  const send = (from: number, to: number): Action => ({
    send: dataLine(chunk({ content: text.slice(from * 5, to * 5) })),
  })
  const actions: Action[] = []
  for (let at = 0; at < BURST_TOKENS; at += 100) actions.push(send(at, at + 100))
  const portion = 5
  for (let at = BURST_TOKENS; at < BURST_TOKENS + MEASURED_TOKENS; at += portion)
    actions.push({ wait: (portion / TOKENS_PER_SECOND) * 1_000 }, send(at, at + portion))
  return finished(actions)
}

const finished = (actions: Action[]): Turn => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  actions: [
    ...actions,
    { send: dataLine(chunk({}, 'stop')) },
    { send: dataLine('[DONE]') },
    { finish: 'end' },
  ],
})

export const shortAnswer = (): Turn =>
  finished([{ send: dataLine(chunk({ content: markdown(150) })) }])
