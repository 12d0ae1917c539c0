// kill -9 at any moment of a run: nothing acknowledged is lost, nothing is done twice, every run comes to its end.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyRunEvent } from '../../server/protocol/apply-run-event.ts'
import type { Step } from '../../server/protocol/step.ts'
import { useDatabases } from '../support/databases.ts'
import { type EventReader, openEvents, type ReceivedEvent } from '../support/events.ts'
import { databaseKeys } from '../support/server.ts'
import { type ServerPlace, type ServerProcess, serverPlace } from '../support/server-process.ts'
import { startUpstream, type Upstream, type UpstreamRequest } from '../support/upstream.ts'
import { type Turn, turn } from '../support/upstream-turns.ts'

/** `npm run test:faults` kills often; `npm test` keeps a short form. */
const KILLS = process.env.FAULTS === 'full' ? 100 : 4
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const LONG_TEXT = Array.from({ length: 40 }, (_, at) => `Sentence number ${at}.`).join(' ')

/** The script, decided from the request alone: think, append to a file, calculate, answer at length. */
function play(request: UpstreamRequest): Turn {
  const since = request.messages.slice(
    request.messages.findLastIndex(
      ({ role, content }) => role === 'user' && String(content).startsWith('Task'),
    ),
  )
  const results = since.filter(({ role }) => role === 'tool').length
  const task = String(since[0]?.content)
  if (results === 0)
    return turn.toolCalls(
      [
        {
          name: 'file_write',
          arguments: { path: 'log.txt', content: `${task}\n`, mode: 'append' },
        },
      ],
      { thinking: 'First I write it down, piece by piece.', delayMs: 2, usage },
    )
  if (results === 1)
    return turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
      text: 'Written. Now I calculate.',
      delayMs: 2,
      usage,
    })
  return turn.thinking('Almost there.', LONG_TEXT, { delayMs: 2, usage })
}

const stepsOf = (events: readonly ReceivedEvent[]): readonly Step[] =>
  events.reduce<readonly Step[]>((steps, { event, data }) => {
    if (event === 'process_step') return applyRunEvent(steps, { event, step: data })
    if (event === 'step_delta') return applyRunEvent(steps, { event, ...data })
    return steps
  }, [])

/** The steps that the events showed as complete. */
const completeSteps = (events: readonly ReceivedEvent[]): Step[] => {
  const last = events.at(-1)
  return events.flatMap(({ event, data }) =>
    event === 'process_step' && data !== last?.data ? [data] : [],
  )
}

for (const dialect of ['sqlite', 'postgres'] as const)
  describe(`kill -9 at random moments (${dialect})`, () => {
    const databases = useDatabases()
    let upstream: Upstream
    let place: ServerPlace
    let server: ServerProcess
    let folder: string

    beforeAll(async () => {
      upstream = await startUpstream()
      upstream.program(play)
      folder = mkdtempSync(join(tmpdir(), 'nanoclaw-kill-'))
      place = await serverPlace(folder, {
        ...databaseKeys(await databases.settings(dialect)),
        models: [{ id: 'scripted', api_url: upstream.url, api_key: 'none' }],
        titles: 'off',
        log_level: 'warn',
      })
      server = await place.start()
    })
    afterAll(async () => {
      await place.close()
      await upstream.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(server.url + path, {
        method,
        ...(body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      })
      // The assertions look at whatever shape comes.
      return (await answer.json()) as { data: ReturnType<typeof JSON.parse> }
    }

    /** How often the file tool really wrote, whatever the server says. */
    async function linesWritten(task: string): Promise<number> {
      const files = (await readdir(join(folder, 'workspaces'), { recursive: true })).filter(
        (file) => file.endsWith('log.txt'),
      )
      return files
        .flatMap((file) => readFileSync(join(folder, 'workspaces', file), 'utf8').split('\n'))
        .filter((line) => line === task).length
    }

    test(`${KILLS} kills lose nothing and repeat nothing`, async () => {
      const { data: project } = await call('POST', '/api/projects', { name: 'Kills' })
      let runUsage = 0
      for (let round = 0; round < KILLS; round += 1) {
        const task = `Task ${dialect} ${round}`
        const { data: conversation } = await call('POST', '/api/conversations', {
          project_id: project.id,
          approval: 'auto',
        })
        const first: EventReader = await openEvents(
          `${server.url}/api/conversations/${conversation.id}/messages`,
          { body: { text: task, stream_mode: 'delta', client_id: 'once' } },
        )
        const begun = await first.next(({ event }) => event === 'run')
        // Somewhere between the first byte and the end; a run takes about half a second undisturbed.
        const wanted = 1 + Math.floor(Math.random() * 40)
        await first.next(({ event }) => event === 'done' || first.events.length >= wanted)
        await server.kill('SIGKILL')
        const seen = [...(await first.all())]
        server = await place.start()

        const runId = begun.data.run_id
        const second = await openEvents(
          `${server.url}/api/runs/${runId}/events?stream_mode=delta`,
          { headers: { 'last-event-id': String(seen.at(-1)?.id ?? 0) } },
        )
        const later = await second.all()
        const all = [...seen, ...later]
        const ids = all.map(({ id }) => id)
        expect(ids, 'ids grow and none comes twice').toEqual(
          [...new Set(ids)].sort((a, b) => a - b),
        )
        expect(all.filter(({ event }) => event === 'done' || event === 'error')).toHaveLength(1)
        expect(all.at(-1)?.event).toBe('done')

        const { data: page } = await call('GET', `/api/conversations/${conversation.id}/messages`)
        const [question, answer] = page.items
        expect(page.items).toHaveLength(2)
        expect(question.text).toBe(task)
        expect(answer.status).toBe('completed')
        expect(stepsOf(all), 'what was drawn is what is stored').toEqual(answer.process_steps)
        for (const step of completeSteps(seen))
          expect(answer.process_steps[step.index], 'a step seen complete stays').toEqual(step)
        const written = await linesWritten(task)
        const writes = answer.process_steps.filter(
          (step: Step) => step.type === 'tool_call' && step.name === 'file_write',
        )
        expect(written, 'an append ran once for each time it was asked for').toBeLessThanOrEqual(
          writes.length,
        )
        expect(writes).toHaveLength(1)
        const { data: run } = await call('GET', `/api/runs/${runId}`)
        runUsage += run.usage.total_tokens
      }
      const { data: stats } = await call('GET', '/api/stats/tokens?period=daily')
      expect(stats.total_tokens, 'booked is what the runs used').toBe(runUsage)
    }, 3_600_000)
  })
