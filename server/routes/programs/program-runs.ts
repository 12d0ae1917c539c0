// Shared by the OpenAI-compatible routes: starting a run for a request, and following it to its end.

import { once } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProgramRequest } from '../../chat/program-runs.ts'
import { toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { AppError, appError } from '../../errors.ts'
import { startOnce } from '../../http/idempotency.ts'
import { createFailedRequests, type SentRequest } from '../../openai-api/failed-requests.ts'
import { programModelName } from '../../openai-api/names.ts'
import type { UploadSentFile } from '../../openai-api/past.ts'
import type { CallerWishes } from '../../openai-api/read-chat.ts'
import { isProviderFailure, runError } from '../../openai-api/run-failure.ts'
import { readRunEvent } from '../../openai-api/run-text.ts'
import { ProgramTools } from '../../protocol/accounts/user.ts'
import type { FileId } from '../../protocol/ids.ts'
import type { RunFailure } from '../../protocol/runs/run.ts'
import type { RunEvent } from '../../protocol/runs/run-event.ts'
import type { Step } from '../../protocol/runs/step.ts'
import { followRun } from '../../runs/log/follow.ts'
import { replayRun, withWholeTexts } from '../../runs/log/stored-replay.ts'
import type { OutgoingEvent } from '../../runs/log/view.ts'
import type { Services } from '../../services.ts'
import { beginEventStream } from '../event-stream.ts'

/** `wait`: calls that need approval wait for a person. With any other value they fail. */
const APPROVAL_HEADER = 'x-nanoclaw-approval'
/** Names the run of a response, so that it can be stopped and its approvals decided. */
const RUN_HEADER = 'x-nanoclaw-run-id'
/** `plain` or `tools`: whether the answer uses the tools of the server. */
const TOOLS_HEADER = 'x-nanoclaw-tools'
const QUIET_MS = 10_000

/** Packages of OpenAI and Anthropic send it. They obey `x-should-retry`, so that the server can repeat a call itself. */
const OBEDIENT_HEADER = 'x-stainless-lang'
const SHOULD_RETRY_HEADER = 'x-should-retry'

/** How often the server repeats a call to a provider that is broken. */
const USUAL_RETRIES = 3
/** How often a provider is asked for one request that a program repeats. */
const MAX_ATTEMPTS = 1 + USUAL_RETRIES
/**
 * A package that obeys the header repeats a request only for a person, so that the provider is asked once more. What comes sooner than a
 * person can ask is from a program that repeats what its package does not.
 */
const PERSON_MS = 2_500

/**
 * "Failed Dependency": the status of a request that is answered with its earlier failure. Most programs repeat a request after a 5xx, but
 * not after a 4xx.
 */
const NOT_ASKED_STATUS = 424

/** The options in the headers of a request, as the chat expects them. */
const wishesOf = (
  { headers, apiKey }: Pick<FastifyRequest, 'headers' | 'apiKey'>,
  isRepeated: boolean,
): CallerWishes => ({
  waitsForApproval: headers[APPROVAL_HEADER] === 'wait',
  isRepeatable: headers['idempotency-key'] !== undefined,
  tools: ProgramTools.safeParse(headers[TOOLS_HEADER]).data ?? apiKey?.programTools ?? undefined,
  // A program that repeats failed requests would multiply the requests to the provider.
  retries: isRepeated ? 0 : headers[OBEDIENT_HEADER] === undefined ? 1 : undefined,
})

/** After how many attempts a provider is left alone for a request that has come again after this time at the earliest. */
const enoughAttempts = ({ headers }: Pick<FastifyRequest, 'headers'>, pauseMs: number): number =>
  headers[OBEDIENT_HEADER] !== undefined && pauseMs >= PERSON_MS ? MAX_ATTEMPTS + 1 : MAX_ATTEMPTS

/** An abort signal that fires when the client disconnects. */
export function untilClientLeaves(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  if (reply.raw.destroyed) controller.abort()
  return controller.signal
}

/** How long the head of a stream waits for the first output, so that a failure before it has the status of a failure. */
const HEAD_MS = 10_000

/** Events before the first output. */
const isPrelude = ({ event }: OutgoingEvent): boolean =>
  event === 'run' || event === 'retry' || event === 'title'

/**
 * Reads the events until the first output, or for at most ten seconds. Returns what has been read, the events with those in
 * front, and what ends the reading. It must be called: a run goes on as long as somebody reads its events.
 */
async function untilOutput(events: AsyncGenerator<OutgoingEvent | null>): Promise<{
  first: OutgoingEvent | undefined
  events: AsyncGenerator<OutgoingEvent | null>
  close(): Promise<void>
}> {
  const held: OutgoingEvent[] = []
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, HEAD_MS, 'late' as const)
  })
  let next = events.next()
  let first: OutgoingEvent | undefined
  for (;;) {
    const one = await Promise.race([next, late])
    if (one === 'late' || one.done === true) break
    next = events.next()
    if (one.value === null) continue
    held.push(one.value)
    if (isPrelude(one.value)) continue
    first = one.value
    break
  }
  clearTimeout(timer)
  // Whoever reads `all` gets the failure; until then, or if nobody does, it must not count as unhandled.
  next.catch(() => {})
  async function* all(): AsyncGenerator<OutgoingEvent | null> {
    yield* held
    for (let one = await next; one.done !== true; one = await events.next()) yield one.value
  }
  return {
    first,
    events: all(),
    // Not in `all`: a generator that nobody has begun to read cannot clean up.
    async close() {
      await events.return(undefined)
    },
  }
}

/** The answer to a program's request, to be sent whole or as a stream. */
export interface ProgramAnswer {
  run: RunRow
  /**
   * Waits as a listener until the run has ended, and returns it with its steps.
   * @throws AppError if it failed, or has not ended because the server is shutting down.
   */
  whole(reply: FastifyReply): Promise<{ run: RunRow; steps: Step[] }>
  /**
   * Sends the frames that `write` returns for each event, as server-sent events. Ends with the run, or when the client
   * disconnects.
   * @throws AppError, instead of beginning the stream, if the run fails before its first output within ten seconds.
   */
  stream(reply: FastifyReply, write: FrameWriter): Promise<void>
}

/** Returns the server-sent events for one event of a run. */
type FrameWriter = (event: RunEvent, id: number) => readonly string[]

/** Creates the functions with which the routes for programs start runs and follow them. */
export function createProgramResponses({
  chat,
  store,
  files,
}: Pick<Services, 'chat' | 'store' | 'files'>) {
  const failedRequests = createFailedRequests()

  /** The events of a run from its beginning, live or from the store; null while nothing happens. */
  async function* eventsOf(run: RunRow, signal: AbortSignal): AsyncGenerator<OutgoingEvent | null> {
    const runLog = await chat.runs.runLog(run)
    if (runLog === null) {
      const ended = (await store.runs.find(run.id)) ?? run
      yield* replayRun(ended, store.steps, { mode: 'delta', afterId: 0 })
    } else yield* followRun(runLog, { signal, quietMs: QUIET_MS })
  }

  async function send(
    reply: FastifyReply,
    events: AsyncGenerator<OutgoingEvent | null>,
    { signal, write }: { signal: AbortSignal; write: FrameWriter },
  ): Promise<void> {
    const response = beginEventStream(reply)
    if (response.writableEnded) return
    response.flushHeaders()
    try {
      for await (const one of events)
        for (const frame of one === null
          ? [': ping\n\n']
          : write(readRunEvent(await withWholeTexts(one)), one.id))
          if (!response.write(frame)) await once(response, 'drain', { signal })
      response.end()
    } catch (error) {
      if (!signal.aborted)
        reply.request.log.warn({ err: error }, 'the stream of a run was interrupted')
      response.destroy()
    }
  }

  /** @param sent null: the failure is not remembered. */
  const answerOf = (
    run: RunRow,
    sent: SentRequest | null,
    retries: number | undefined,
  ): ProgramAnswer => {
    /** @param hasOutput whether the run failed after it had begun to answer: the last call was not repeated. */
    const remember = (failure: RunFailure, hasOutput: boolean): void => {
      if (sent === null || !isProviderFailure(failure) || !failure.retryable) return
      failedRequests.add(sent, failure, hasOutput ? 1 : 1 + (retries ?? USUAL_RETRIES))
    }
    const refuse = (reply: FastifyReply, failure: RunFailure): never => {
      remember(failure, false)
      return refuseWith(reply, failure)
    }
    return {
      run,
      async whole(reply) {
        void reply.header(RUN_HEADER, run.id)
        const runLog = await chat.runs.runLog(run)
        if (runLog !== null) {
          const signal = untilClientLeaves(reply)
          for await (const _event of followRun(runLog, { signal, quietMs: QUIET_MS }))
            if (runLog.terminal !== null) break
        }
        const [found, rows] = await Promise.all([
          store.runs.find(run.id),
          store.steps.list(run.messageId),
        ])
        const ended = found ?? run
        if (ended.endedAt === null) throw appError('shutting_down', {}, { retryAfter: 5 })
        if (ended.error !== null) refuse(reply, ended.error)
        return { run: ended, steps: rows.map(toStep) }
      },
      async stream(reply, write) {
        void reply.header(RUN_HEADER, run.id)
        const signal = untilClientLeaves(reply)
        const { first, events, close } = await untilOutput(eventsOf(run, signal))
        try {
          if (first?.event === 'error') {
            const failure = readRunEvent(first)
            if (failure.event === 'error') refuse(reply, failure)
          }
          await send(reply, events, {
            signal,
            write(event, id) {
              if (event.event === 'error') remember(event, first !== undefined)
              return write(event, id)
            },
          })
        } finally {
          await close()
        }
      },
    }
  }

  return {
    /**
     * Starts the run of a request, or joins the one that the request started before.
     * @param same the model and the newest part of the conversation, by which a repeated request is recognized.
     * @param read reads the request, with the options in its headers and what stores its files.
     */
    async begin(
      reply: FastifyReply,
      same: SentRequest['same'],
      read: (wishes: CallerWishes, upload: UploadSentFile) => Promise<ProgramRequest>,
    ): Promise<ProgramAnswer> {
      const { request } = reply
      const { user, url, headers } = request
      const length = headers['content-length']
      // A request that joins a run asks no provider, and one without a length would be taken for a shorter one.
      const isJoining = request.idempotentRunId !== null
      const sent =
        isJoining || length === undefined ? null : { userId: user.id, path: url, length, same }
      const failed = sent === null ? undefined : failedRequests.find(sent)
      const wishes = wishesOf(request, failed !== undefined)
      const isEnough =
        failed !== undefined && failed.attempts >= enoughAttempts(request, failed.shortestPauseMs)
      if (isEnough && failed.isRecent) return refuseWith(reply, failed.failure, NOT_ASKED_STATUS)
      const run = await startOnce(request, store.runs, async () => {
        const added: FileId[] = []
        try {
          const wanted = await read(wishes, async (name, bytes) => {
            const { id, isNew } = await files.uploadOnce(user.id, { name, bytes })
            if (isNew) added.push(id)
            return id
          })
          return await chat.answerProgram(user.id, wanted).catch(withProgramNames)
        } catch (error) {
          // What was stored for a request that is refused would fill the user's storage for a day.
          await Promise.all(added.map((id) => files.remove(user.id, id))).catch((cause) =>
            request.log.warn({ err: cause }, 'the files of a refused request could not be removed'),
          )
          throw error
        }
      })
      return answerOf(run, sent, wishes.retries)
    },

    /** Sends the events of a run from its beginning, also of one that has failed. */
    async follow(reply: FastifyReply, run: RunRow, write: FrameWriter): Promise<void> {
      void reply.header(RUN_HEADER, run.id)
      const signal = untilClientLeaves(reply)
      await send(reply, eventsOf(run, signal), { signal, write })
    },
  }
}

/** @throws AppError with the run's failure, with a header that keeps programs from repeating the request in vain. */
function refuseWith(reply: FastifyReply, failure: RunFailure, status?: number): never {
  if (isProviderFailure(failure)) void reply.header(SHOULD_RETRY_HEADER, 'false')
  throw runError(failure, status)
}

/** The models that a program may choose, as it must write them. */
function withProgramNames(error: unknown): never {
  if (!(error instanceof AppError) || error.reason !== 'unknown_model') throw error
  const { model = '', available = [] } = error.params ?? {}
  throw appError('unknown_model', {
    model: String(model),
    available: Array.isArray(available) ? available.map(programModelName) : [],
  })
}
