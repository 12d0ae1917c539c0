// Three instances, when those that perform runs are killed again and again; with FAULTS=full only, or KILLS=<number>.
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { RunId } from '../../server/protocol/ids.ts'
import type { Step } from '../../server/protocol/runs/step.ts'
import { linesWritten, playTask, RUN_TOKENS } from '../support/faults/crash-script.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { openEvents } from '../support/server/events.ts'
import { useInstanceProcesses } from '../support/server/instance-processes.ts'
import { hasRedis } from '../support/store/redis.ts'
import { isEnd } from './instance-actions.ts'

const KILLS = Number(process.env.KILLS ?? (process.env.FAULTS === 'full' ? 100 : 0))
const INSTANCES = 3
/** Conversations in which one message follows another for as long as instances are killed. */
const CONVERSATIONS = 6
/** Between the pieces of an answer: a run takes about four seconds, and a kill meets any part of it. */
const PIECE_MS = 20
const LONGEST_PAUSE_MS = 1_000
/** Kills before the runs at work may end: a run is given up when its process died eight times without progress. */
const BURST = 5
const LIMIT_MS = 1_800_000

/** A message that an instance has accepted, and the run that answers it. */
interface Sent {
  task: string
  runId: RunId
}

describe.skipIf(!hasRedis || KILLS === 0)('three instances', () => {
  const instances = useInstanceProcesses(INSTANCES)
  const { processes } = instances

  test(
    `${KILLS} kills of instances that perform runs lose no message and no run, and repeat no tool (SEED=${SEED})`,
    async () => {
      const random = randomFrom(SEED)
      instances.upstream.program((request) => playTask(request, PIECE_MS))
      const atWork = new Set<RunId>()
      let isOver = false

      /** Sends the message as the page does: again, with the same `client_id`, until an instance has accepted it. */
      async function send(id: string, task: string): Promise<RunId> {
        for (let index = random.below(INSTANCES); ; index = (index + 1) % INSTANCES)
          try {
            const body = { text: task, client_id: task, on_disconnect: 'continue' }
            const url = `${instances.urlOf(index)}/api/conversations/${id}/messages`
            const stream = await openEvents(url, { body })
            const { data } = await stream.next(({ event }) => event === 'run')
            stream.leave()
            return RunId.parse(data.run_id)
          } catch {
            // That instance is dead: the next one knows whether the message was stored.
            await pause(100)
          }
      }
      async function converse(id: string, name: string): Promise<Sent[]> {
        const sent: Sent[] = []
        while (!isOver) {
          const task = `Task ${name}-${sent.length}`
          const runId = await send(id, task)
          sent.push({ task, runId })
          atWork.add(runId)
          const events = await instances.followToEnd(runId, random.below(INSTANCES))
          atWork.delete(runId)
          expect(events.filter(isEnd).map(({ event }) => event)).toEqual(['done'])
          const ids = events.map((event) => event.id)
          expect(ids, 'ids grow and none comes twice').toEqual(
            [...new Set(ids)].sort((a, b) => a - b),
          )
        }
        return sent
      }
      /** Kills an instance that performs a run, at a random moment, and starts it again. */
      async function killOne(): Promise<boolean> {
        const [runId] = random.shuffle([...atWork])
        const owner = runId === undefined ? null : (await instances.store.runs.find(runId))?.owner
        const victim = processes.findIndex((each) => owner && each.logged().includes(owner))
        if (victim === -1) return false
        await pause(random.below(LONGEST_PAUSE_MS))
        await processes[victim]?.kill('SIGKILL')
        await instances.restart(victim)
        return true
      }

      async function messagesOf(id: string) {
        const path = `/api/conversations/${id}/messages?limit=100`
        let page = await instances.call(0, 'GET', path)
        const items = page.items
        while (page.has_more) {
          page = await instances.call(0, 'GET', `${path}&cursor=${page.next_cursor}`)
          items.unshift(...page.items)
        }
        return items
      }

      const ids = await Promise.all(
        Array.from({ length: CONVERSATIONS }, () =>
          instances.conversation(0, { approval: 'auto' }),
        ),
      )
      const conversations = Promise.all(ids.map((id, at) => converse(id, String(at))))
      let kills = 0
      async function killSome(): Promise<void> {
        const enough = Math.min(KILLS, kills + BURST)
        while (kills < enough && !isOver)
          if (await killOne()) kills += 1
          else await pause(50)
        const hit = [...atWork]
        while (hit.some((runId) => atWork.has(runId)) && !isOver) await pause(50)
      }
      try {
        // A conversation that fails ends the test.
        while (kills < KILLS) await Promise.race([conversations, killSome()])
      } finally {
        isOver = true
      }

      let attempts = 0
      let written = 0
      let performed = 0
      for (const [at, sent] of (await conversations).entries()) {
        performed += sent.length
        const items = await messagesOf(ids[at] ?? '')
        expect(
          items.filter(({ role }: { role: string }) => role === 'user').map(textOf),
          'each message is there once, in its order',
        ).toEqual(sent.map(({ task }) => task))
        expect(items).toHaveLength(2 * sent.length)
        for (const [index, { task, runId }] of sent.entries()) {
          const answer = items[2 * index + 1]
          expect(answer.status, task).toBe('completed')
          const run = await instances.call(0, 'GET', `/api/runs/${runId}`)
          expect(run.usage.total_tokens, `${task}: each model call is counted once`).toBe(
            RUN_TOKENS,
          )
          attempts += (await instances.store.runs.find(runId))?.attempt ?? 0
          const lines = await linesWritten(instances.workspaces, task)
          expect(lines, `${task}: an append ran at most once`).toBeLessThanOrEqual(1)
          const result = answer.process_steps.find(
            (step: Step) => step.type === 'tool_result' && step.name === 'file_write',
          )
          if (JSON.parse(result.content).success) expect(lines, `${task}: it worked`).toBe(1)
          written += lines
        }
      }
      const stats = await instances.call(0, 'GET', '/api/stats/tokens?period=daily')
      expect(stats.total_tokens).toBe(performed * RUN_TOKENS)
      expect(attempts, 'kills met runs at work').toBeGreaterThanOrEqual(performed + KILLS / 2)
      console.info(
        `${KILLS} kills: ${performed} runs in ${attempts} attempts, ${written} appends, nothing lost or repeated`,
      )
    },
    LIMIT_MS,
  )
})

const textOf = ({ text }: { text: string }): string => text
