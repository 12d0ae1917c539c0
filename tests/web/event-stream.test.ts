// Parsing a run's event stream in the page: typed events; unknown ones are ignored.
import { expect, test } from 'vitest'
import { readEvents } from '../../web/src/lib/http/event-stream.ts'

const frame = (event: string, data: unknown): string =>
  `event: ${event}\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

async function read(...frames: readonly string[]): Promise<unknown[]> {
  const events: unknown[] = []
  for await (const { event } of readEvents(new Response(frames.join(''))).events) events.push(event)
  return events
}

const decided = { id_ref: 'call_1', progress: { kind: 'decided', decision: 'reject' } }

test('progress of a known kind is read with its type', async () => {
  expect(await read(frame('tool_progress', decided))).toEqual([
    { event: 'tool_progress', ...decided },
  ])
})

test('progress of an unknown kind, or without what its kind needs, is left out', async () => {
  const events = await read(
    frame('tool_progress', { id_ref: 'call_1', progress: { kind: 'hologram', depth: 3 } }),
    frame('tool_progress', {
      id_ref: 'call_1',
      progress: { kind: 'decided', decision: 'perhaps' },
    }),
    frame('tool_progress', { id_ref: 'call_1' }),
    frame('title', { title: 'Still here' }),
  )
  expect(events).toEqual([{ event: 'title', title: 'Still here' }])
})

test('events that are unknown or cannot be read are left out', async () => {
  const events = await read(
    frame('hologram', { depth: 3 }),
    frame('title', '{"title":'),
    frame('title', { title: 'Still here' }),
  )
  expect(events).toEqual([{ event: 'title', title: 'Still here' }])
})
