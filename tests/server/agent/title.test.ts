// Titles that models write, and those from first messages.
import { expect, test } from 'vitest'
import { titleFromModel } from '../../../server/agent/title.ts'
import { titleFromMessage } from '../../../server/protocol/conversations/title.ts'
import { finished, says, scriptedClient, text } from '../../support/provider/scripted-client.ts'

test.each([
  ['Green tea', 'Green tea'],
  ['"Green tea."', 'Green tea'],
  ['**Green tea**', 'Green tea'],
  ['# Title: "Green tea"\n\nIt is short.', 'Green tea'],
  ['**Title:** Using `useEffect` with 2 * 3', 'Using useEffect with 2 * 3'],
  ['标题：「绿茶」。', '绿茶'],
  ['snake_case in C#', 'snake_case in C#'],
  ['  ', null],
])('%j becomes the title %j', async (written, title) => {
  const llm = scriptedClient(says([text(written), finished()]))
  const made = await titleFromModel(llm, 'Tea?', 'Yes.', new AbortController().signal)
  expect(made.title).toBe(title)
})

test.each([
  ['Why does `npm test` fail?\nHere is more.', 'Why does npm test fail?'],
  ['```ts\nconst one = 1\n```', 'const one = 1'],
  ['A lone ` stays', 'A lone ` stays'],
  ['', ''],
])('the first message %j gives the title %j', (message, title) => {
  expect(titleFromMessage(message)).toBe(title)
})
