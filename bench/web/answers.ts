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

/** The units of each content, by number. Each names its number, so that the page shows how far it is. */
const UNITS: Record<Content, (number: number) => string> = {
  table: (number) =>
    `| row ${number} | **${number * 7}** units | \`code_${number}\` | a few words |\n`,
  list: (number) => `- point ${number} with **bold** words and \`code\`\n`,
  paragraph: (number) =>
    `The value ${number} of **this** entry is *higher* than \`expected\`, as [the source](https://example.org) says. `,
  code: (number) => `    value_${number} = compute(${number}, "text")  # line ${number}\n`,
  mixed: part,
}
/** What the page shows of a unit. */
const SIGNS: Record<Content, string> = {
  table: 'row ',
  list: 'point ',
  paragraph: 'value ',
  code: 'value_',
  mixed: 'Part ',
}
const STARTS: Partial<Record<Content, string>> = {
  table: '| name | amount | code | remark |\n| --- | ---: | --- | --- |\n',
  code: '```python\n',
}

/** The text of an answer of one content: what comes in a burst, what the page shows of its last unit, and what comes later. */
export interface ContentText {
  burst: string
  lastSign: string
  rest: string
}

/** A content of about so many tokens in a burst and so many later, at five characters per token. */
export function contentText(
  content: Content,
  burstTokens: number,
  laterTokens: number,
): ContentText {
  let number = 0
  const units = (characters: number, start = ''): string => {
    let text = start
    while (text.length < characters) {
      number += 1
      text += UNITS[content](number)
    }
    return text
  }
  const burst = units(burstTokens * 5, STARTS[content])
  const lastSign = `${SIGNS[content]}${number}`
  const rest = units(laterTokens * 5)
  return { burst, lastSign, rest: rest.slice(0, laterTokens * 5) }
}

const PIECE_TOKENS = 5
const TOKENS_PER_SECOND = 200

/** The burst, then, once `goesOn` settles, the rest at 200 tokens per second, in pieces of five. */
export function contentAnswer({ burst, rest }: ContentText, goesOn: Promise<void>): Turn {
  const actions: Action[] = [...sent(burst, 500).map((send) => ({ send })), { until: goesOn }]
  const wait = (PIECE_TOKENS / TOKENS_PER_SECOND) * 1_000
  for (const send of sent(rest, PIECE_TOKENS * 5)) actions.push({ wait }, { send })
  return finished(actions)
}

const sent = (text: string, characters: number): string[] =>
  Array.from({ length: Math.ceil(text.length / characters) }, (_, at) =>
    dataLine(chunk({ content: text.slice(at * characters, (at + 1) * characters) })),
  )

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
