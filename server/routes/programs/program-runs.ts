// Shared by the OpenAI-compatible routes: starting a run for a request, and following it to its end.

import { once } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChatService } from '../../chat/chat-service.ts'
import { toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { appError } from '../../errors.ts'
import type { CallerWishes } from '../../openai-api/read-chat.ts'
import { runError } from '../../openai-api/run-failure.ts'
import { readRunEvent } from '../../openai-api/run-text.ts'
import type { RunEvent } from '../../protocol/runs/run-event.ts'
import type { Step } from '../../protocol/runs/step.ts'
import { followRun } from '../../runs/log/follow.ts'
import { replayRun } from '../../runs/log/stored-replay.ts'
import { beginEventStream } from '../event-stream.ts'

/** The dependencies of routes that start runs for other programs. */
export interface ProgramRouteDependencies {
  chat: ChatService
  store: Store
}

/** `wait`: calls that need approval wait for a person. With any other value they fail. */
const APPROVAL_HEADER = 'x-nanoclaw-approval'
/** Names the run of a response, so that it can be stopped and its approvals decided. */
const RUN_HEADER = 'x-nanoclaw-run-id'
const QUIET_MS = 10_000

/** The options in the headers of a request, as the chat expects them. */
export const wishesOf = ({ headers }: Pick<FastifyRequest, 'headers'>): CallerWishes => ({
  waitsForApproval: headers[APPROVAL_HEADER] === 'wait',
  isRepeatable: headers['idempotency-key'] !== undefined,
})

interface NumberedEvent {
  id: number
  event: RunEvent
}

/** An abort signal that fires when the client disconnects. */
function untilClientLeaves(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  if (reply.raw.destroyed) controller.abort()
  return controller.signal
}

/** Creates the functions with which a route follows the run that it has started. */
export function createProgramResponses({ chat, store }: ProgramRouteDependencies) {
  /** The events of a run from its beginning, live or from the store; null while nothing happens. */
  async function* eventsOf(run: RunRow, signal: AbortSignal): AsyncGenerator<NumberedEvent | null> {
    const runLog = await chat.runs.runLog(run)
    if (runLog === null) {
      const ended = (await store.runs.find(run.id)) ?? run
      for await (const event of replayRun(ended, store.steps, { mode: 'delta', afterId: 0 }))
        yield { id: event.id, event: readRunEvent(event) }
      return
    }
    for await (const event of followRun(runLog, { signal, quietMs: QUIET_MS }))
      yield event === null ? null : { id: event.id, event: readRunEvent(event) }
  }

  return {
    /** Waits as a listener until the run has ended. Returns it with its steps, also if it failed. */
    async result(reply: FastifyReply, run: RunRow): Promise<{ run: RunRow; steps: Step[] }> {
      void reply.header(RUN_HEADER, run.id)
      for await (const one of eventsOf(run, untilClientLeaves(reply)))
        if (one?.event.event === 'done' || one?.event.event === 'error') break
      const [ended, rows] = await Promise.all([
        store.runs.find(run.id),
        store.steps.list(run.messageId),
      ])
      return { run: ended ?? run, steps: rows.map(toStep) }
    },

    /**
     * Sends the frames that `write` returns for each event, as server-sent events. Ends with the run, or when the client
     * disconnects.
     */
    async stream(
      reply: FastifyReply,
      run: RunRow,
      write: (event: RunEvent, id: number) => readonly string[],
    ): Promise<void> {
      void reply.header(RUN_HEADER, run.id)
      const { log } = reply.request
      const signal = untilClientLeaves(reply)
      const response = beginEventStream(reply)
      if (response.writableEnded) return
      response.flushHeaders()
      try {
        for await (const one of eventsOf(run, signal))
          for (const frame of one === null ? [': ping\n\n'] : write(one.event, one.id))
            if (!response.write(frame)) await once(response, 'drain', { signal })
        response.end()
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error, run_id: run.id }, 'a stream was interrupted')
        response.destroy()
      }
    },
  }
}

/** @throws AppError for a run that failed, or that has not ended because the server is shutting down. */
export function assertAnswered(run: RunRow): void {
  if (run.endedAt === null) throw appError('shutting_down', {}, { retryAfter: 5 })
  if (run.error !== null) throw runError(run.error)
}
