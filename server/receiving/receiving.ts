// Messengers at one instance: what arrives is stored, chats are looked after until everything in them has ended, answers go out.
import type { Announcer } from '../changes/change-log.ts'
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { DuePart } from '../db/repositories/deliveries/outgoing-parts.ts'
import type { ChatPlace, IncomingRow } from '../db/repositories/deliveries/receiving.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { errorText } from '../errors.ts'
import { type ProcessClock, passed } from '../lib/clocks.ts'
import { newId } from '../lib/ids.ts'
import type { Limits } from '../lib/limits.ts'
import { type Arrival, ReceivingEnded } from '../messaging/messenger.ts'
import { createOutbox } from '../messaging/outbox.ts'
import { type StoredFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { ReceiveSettings, ReceiveState } from '../protocol/programs/channel.ts'
import { type AcceptDependencies, accept } from './accept.ts'
import { type CommandDependencies, obey } from './commands.ts'
import type { MessageOutcome } from './content.ts'
import { type SendDependencies, sendPart } from './parts.ts'
import { createProgress, type ProgressDependencies } from './progress.ts'
import { takeAnswer } from './questions.ts'
import { followTurn, formTurn, mergeTime, startTurn } from './turns.ts'

/**
 * How often it is compared, without a statement, whether something is to be done. What is due at a moment that is known has a
 * timer; this finds what has none, and what a clock that was set or a machine that slept has made due.
 */
const BEAT_MS = 250
/** How often the store is asked at rest, and when instances share it. */
const LOOK_MS = 60_000
const SHARED_LOOK_MS = 2_000
/** How often a run is looked at that has not ended. */
const FOLLOW_MS = 1_000
/** How soon a chat is looked at again when it could not be. */
const RETRY_MS = 2_000
/** Every minute for a day: what waits becomes a link after six hours, and the link still arrives. */
const PAUSES_SECONDS = [5, 30, ...Array.from({ length: 24 * 60 }, () => 60)]
/** How long a message is known, so that it is not accepted again. */
const KNOWN_MS = 30 * 24 * 3_600_000
const OVERHEARD_MS = 24 * 3_600_000
const HOUR_MS = 3_600_000
const MAX_RECONNECT_MS = 60_000

/** What messengers need of the other modules. */
export interface ReceivingDependencies
  extends Omit<
      AcceptDependencies,
      'wake' | 'wakeOutbox' | 'tellStranger' | 'trustedSender' | 'mayTellCode'
    >,
    Omit<CommandDependencies, 'wakeOutbox'>,
    SendDependencies,
    ProgressDependencies {
  every: ProcessClock['every']
  after: ProcessClock['after']
  followRuns: Announcer['followRuns']
  limits: Limits
  /** Whether other instances share the store. */
  isShared: boolean
}

interface State {
  isLeading: boolean
  isStopped: boolean
  /** Chats to look at, and when. */
  due: Map<string, number>
  /** The timer for the first of them that is due later. */
  wake: { at: number; end(): void } | null
  /** Chats by the run that they wait for. */
  runs: Map<string, string>
  busy: Map<string, Promise<void>>
  receivers: Map<string, ReturnType<typeof startReceiver>>
  nextLook: number
  /** How many looks have failed one after another. */
  failedLooks: number
  /** When chats are looked for that show the progress of a run that has ended. */
  nextLeftovers: number
  nextPurge: number
}

/** The messengers of one instance. */
export interface Receiving {
  /** Accepts what a program hands over. */
  accept(channel: ChannelRow, arrival: Arrival): Promise<MessageOutcome>
  /** A channel was made, changed or removed. */
  channelChanged(): void
  /** Sends a text to a chat behind what is on its way. */
  wakeOutbox(): void
  start(): void
  /** Receives for all channels, as the one instance that does. Returns a function that ends it. */
  lead(): () => Promise<void>
  stop(): Promise<void>
}

/** Create one per process. */
export function createReceiving(given: ReceivingDependencies): Receiving {
  const { store, now, log } = given
  const state: State = {
    isLeading: false,
    isStopped: false,
    due: new Map(),
    wake: null,
    runs: new Map(),
    busy: new Map(),
    receivers: new Map(),
    nextLook: Number.POSITIVE_INFINITY,
    failedLooks: 0,
    nextLeftovers: 0,
    nextPurge: 0,
  }
  const outbox = createPartOutbox(given)
  const codes = given.limits.rateLimit('pairing codes', { limit: 0, windowMs: HOUR_MS })
  const dependencies = {
    ...given,
    wakeOutbox: () => outbox.wake(),
    wake: (chatId: string) => {
      state.due.set(chatId, 0)
      void work()
    },
    trustedSender: (channel: ChannelRow) =>
      given.messengerOf(channel.type)?.trustedSender?.(given.settingsOf(channel)) ?? null,
    async mayTellCode({ type, userId }: ChannelRow): Promise<boolean> {
      const limit = given.messengerOf(type)?.codesPerHour
      if (limit === undefined) return true
      // Not a count of stored senders: forgetting them would reset it.
      return (await codes.acquire(`${type} ${userId}`, 1, limit)) === null
    },
    tellStranger: (channel: ChannelRow, arrival: Arrival, text: string) =>
      tellStranger(channel, arrival, text, given),
  }
  const progress = createProgress(dependencies)

  /** Does work about one thing at a time; nothing rejects. */
  function once(key: string, perform: () => Promise<void>): Promise<void> {
    const running = state.busy.get(key)
    if (running !== undefined) return running
    const done = perform()
      .catch((error: unknown) => {
        log.warn({ cause: errorText(error), key }, 'a chat could not be looked at')
        if (key !== 'look') return void state.due.set(key, now().getTime() + RETRY_MS)
        const pause = Math.min(RETRY_MS * 2 ** state.failedLooks, LOOK_MS)
        state.failedLooks += 1
        state.nextLook = Math.min(state.nextLook, now().getTime() + pause)
      })
      .finally(() => state.busy.delete(key))
    state.busy.set(key, done)
    return done
  }

  async function lookAtChat(id: string): Promise<void> {
    const next = await advance(id, dependencies)
    if (next === null) {
      // What is written next does not wait for it.
      void progress.end(id)
      for (const [run, chat] of state.runs) if (chat === id) state.runs.delete(run)
      return
    }
    if (next.run !== null) {
      state.runs.set(next.run.id, id)
      if (state.isLeading) await progress.show(next.place, next.run)
    }
    const known = state.due.get(id)
    if (known === undefined || known > next.at) state.due.set(id, next.at)
    setTimer()
  }

  /** What is due already is left to the beat, so that a chat in which nothing goes on costs no more. */
  function setTimer(): void {
    const moment = now().getTime()
    let first = Number.POSITIVE_INFINITY
    for (const at of state.due.values()) if (at > moment && at < first) first = at
    if (state.wake?.at === first || state.isStopped) return
    state.wake?.end()
    state.wake = null
    if (first === Number.POSITIVE_INFINITY) return
    const end = given.after(first - moment, async () => {
      state.wake = null
      await work()
    })
    state.wake = { at: first, end }
  }

  async function work(): Promise<void> {
    const moment = now().getTime()
    const started: Promise<void>[] = []
    for (const [id, at] of state.due)
      if (at <= moment && !state.busy.has(id) && !state.isStopped) {
        state.due.delete(id)
        started.push(once(id, () => lookAtChat(id)))
      }
    setTimer()
    await Promise.all(started)
  }

  async function look(): Promise<void> {
    const moment = now().getTime()
    state.nextLook = moment + (given.isShared ? SHARED_LOOK_MS : LOOK_MS)
    const open = await store.receiving.openChats()
    if (moment >= state.nextLeftovers) {
      open.push(...(await store.receiving.chatsWithProgress()))
      state.nextLeftovers = moment + LOOK_MS
    }
    for (const id of open) if (!state.due.has(id)) state.due.set(id, 0)
    await syncReceivers(state, dependencies)
    if (moment >= state.nextPurge) {
      await given.database.write(async (tx) => {
        await store.receiving.removeOldIncoming(tx, {
          known: new Date(moment - KNOWN_MS),
          overheard: new Date(moment - OVERHEARD_MS),
        })
        await store.receiving.removeExpired(tx, new Date(moment - HOUR_MS))
      })
      state.nextPurge = moment + HOUR_MS
    }
    state.failedLooks = 0
  }

  async function beat(): Promise<void> {
    if (state.isStopped) return
    if (state.isLeading && now().getTime() >= state.nextLook) await once('look', look)
    if (state.due.size > 0) await work()
  }
  const endBeats = given.every(BEAT_MS, beat)
  given.followRuns({
    runs: state.runs,
    changed(_userId, runId) {
      const chat = state.runs.get(runId)
      if (chat !== undefined) dependencies.wake(chat)
    },
  })

  const settled = async (): Promise<void> => {
    while (state.busy.size > 0) await Promise.all(state.busy.values())
  }
  const stopReceivers = async (): Promise<void> => {
    const all = [...state.receivers.values()]
    state.receivers.clear()
    await Promise.all(all.map((one) => one.stop()))
  }

  return {
    async accept(channel, arrival) {
      const { receive } = channel
      if (receive === null) return 'ignored'
      return await accept({ ...channel, receive }, arrival, dependencies)
    },
    channelChanged() {
      if (!state.isLeading) return
      state.nextLook = 0
      void beat()
    },
    wakeOutbox: () => outbox.wake(),
    start: () => outbox.start(),
    lead() {
      const begin = async (): Promise<void> => {
        // A claim of a process that has died; no other can have made one.
        if (!given.isShared) await store.parts.releaseAll()
        outbox.wake()
      }
      void begin().catch((error: unknown) =>
        log.warn({ cause: errorText(error) }, 'what waits for messengers could not be read'),
      )
      state.isLeading = true
      state.nextLook = 0
      void beat()
      return async () => {
        state.isLeading = false
        // First, because another instance may receive already.
        await stopReceivers()
        await settled()
      }
    },
    async stop() {
      state.isStopped = true
      endBeats()
      state.wake?.end()
      await settled()
      await stopReceivers()
      await outbox.stop()
    },
  }
}

/** The outbox of parts. */
const createPartOutbox = (given: ReceivingDependencies) =>
  createOutbox<DuePart>({
    queue: given.store.parts,
    pausesSeconds: PAUSES_SECONDS,
    now: given.now,
    log: given.log,
    async send(item, signal) {
      const { outcome, counts } = await sendPart(item, given, signal)
      if (outcome.ok && outcome.externalId !== undefined)
        await given.store.parts.setExternalId(item.delivery.id, outcome.externalId)
      if (counts !== null)
        given.observe({ type: item.channel.type, direction: 'out', outcome: counts })
      return outcome
    },
  })

interface Advanced {
  /** When to look again. */
  at: number
  run: RunRow | null
  place: ChatPlace
}

/** Does what can be done in a chat now. Resolves to null when everything in it has ended. */
async function advance(
  id: string,
  dependencies: CommandDependencies & { now(): Date },
): Promise<Advanced | null> {
  const { store, now } = dependencies
  let place = await store.receiving.chat(id)
  if (place === undefined) return null
  let open = await store.receiving.openMessages(id)
  const isAsked = ({ kind }: IncomingRow): boolean => kind === 'command' || kind === 'decision'
  const asked = open.filter(isAsked)
  for (const row of asked) {
    await obey(place, row, open, dependencies)
    // It may have changed the chat.
    place = await store.receiving.chat(id)
    if (place === undefined) return null
    open = await store.receiving.openMessages(id)
  }
  const later = (ms: number, run: RunRow | null, at: ChatPlace): Advanced => ({
    at: now().getTime() + ms,
    run,
    place: at,
  })
  // Another instance obeys it, or it has just come.
  if (open.some(isAsked)) return later(RETRY_MS, null, place)
  for (;;) {
    const active = open.filter((row) => row.state !== 'waiting' && !isAsked(row))
    if (active.length > 0) {
      const run = await performTurn(place, active, dependencies)
      if (run !== null) {
        const isAnswered =
          run.status === 'awaiting_input' && (await takeAnswer(place, run, open, dependencies))
        return later(isAnswered ? 0 : FOLLOW_MS, run, place)
      }
      const left = await store.receiving.openMessages(id)
      // It waits until it can start.
      if (left.some((row) => row.state === 'starting')) return later(RETRY_MS, null, place)
      open = left
      continue
    }
    const waiting = open.filter(({ kind }) => kind === 'message')
    const at = mergeTime(waiting)
    if (at === null) return open.length === 0 ? null : later(0, null, place)
    if (at > now().getTime()) return { at, run: null, place }
    place = await store.receiving.chat(id)
    if (place === undefined) return null
    const isFormed = await formTurn(place, dependencies)
    open = await store.receiving.openMessages(id)
    if (isFormed) continue
    // Dropped, or the chat has changed meanwhile.
    dependencies.wakeOutbox()
    return open.length === 0 ? null : later(0, null, place)
  }
}

/** Starts and follows the turn of a chat. Returns its run while it has not ended. */
async function performTurn(
  place: ChatPlace,
  rows: readonly IncomingRow[],
  dependencies: CommandDependencies,
): Promise<RunRow | null> {
  const { store } = dependencies
  if (rows.some(({ state }) => state === 'running'))
    return await followTurn(
      place,
      rows.filter(({ state }) => state === 'running'),
      dependencies,
    )
  await startTurn(place, rows, dependencies)
  const started = (await store.receiving.openMessages(place.chat.id)).filter(
    ({ state }) => state === 'running',
  )
  return started.length === 0 ? null : await followTurn(place, started, dependencies)
}

/** Tells a stranger something without storing it. */
async function tellStranger(
  channel: ChannelRow,
  { id, chat, threadId }: Arrival,
  text: string,
  { messengerOf, settingsOf, addressOf, log }: ReceivingDependencies,
): Promise<boolean> {
  try {
    const sent = await messengerOf(channel.type)?.send(
      settingsOf(channel),
      {
        chatId: chat.id,
        threadId,
        name: chat.name,
        inReplyTo: id,
        address: addressOf(channel),
      },
      { type: 'text', text, id: newId() },
      AbortSignal.timeout(15_000),
    )
    return sent?.ok === true
  } catch (error) {
    log.warn({ cause: errorText(error), channel: channel.id }, 'a pairing code could not be sent')
    return false
  }
}

type ReceiverDependencies = ReceivingDependencies & AcceptDependencies

/** Starts receivers of new channels, and ends those of channels that have changed. */
async function syncReceivers(state: State, dependencies: ReceiverDependencies): Promise<void> {
  const channels = await dependencies.store.receiving.receiving()
  const wanted = new Map(
    channels
      .filter(({ type }) => dependencies.messengerOf(type)?.receive !== undefined)
      .map((channel) => [channel.id, channel]),
  )
  for (const [id, receiver] of state.receivers) {
    const channel = wanted.get(id)
    const isSame = channel !== undefined && fingerprint(channel) === receiver.fingerprint
    // One that gave up begins again once the channel was changed in any way.
    if (isSame && (!receiver.hasGivenUp() || channel.state === 'error')) continue
    state.receivers.delete(id)
    await receiver.stop()
  }
  for (const [id, channel] of wanted)
    if (!state.receivers.has(id) && state.isLeading && !state.isStopped)
      state.receivers.set(id, startReceiver(channel, dependencies))
}

const fingerprint = ({ sealedSettings, receive, addressToken }: ChannelRow): string =>
  `${sealedSettings} ${JSON.stringify(receive)} ${addressToken}`

/** Receives for one channel until it is stopped. */
function startReceiver(channel: ChannelRow, dependencies: ReceiverDependencies) {
  const { now, log } = dependencies
  const controller = new AbortController()
  const { signal } = controller
  let hasGivenUp = false
  const run = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      const ended = await receiveOnce(channel, dependencies, signal, () => {
        failures = 0
      }).catch((error: unknown) => {
        log.warn({ cause: errorText(error), channel: channel.id }, 'a channel could not receive')
        return null
      })
      if (signal.aborted) return
      // Only a change of the channel helps. It may come as soon as the state is stored.
      hasGivenUp = ended?.state === 'error'
      await setState(channel, ended?.state ?? 'connecting', ended?.failure ?? null, dependencies)
      if (hasGivenUp) return
      const pause =
        ended?.state === 'conflict'
          ? MAX_RECONNECT_MS
          : Math.min(1_000 * 2 ** failures, MAX_RECONNECT_MS)
      failures += 1
      await passed(new Date(now().getTime() + pause), now, signal)
    }
  }
  const done = run().catch((error: unknown) => {
    log.warn({ cause: errorText(error), channel: channel.id }, 'a channel has ended receiving')
    // The next look begins it anew.
    hasGivenUp = true
  })
  return {
    fingerprint: fingerprint(channel),
    hasGivenUp: () => hasGivenUp,
    async stop() {
      controller.abort()
      await done
    },
  }
}

/** Receives until the connection ends. Returns why. */
async function receiveOnce(
  given: ChannelRow,
  dependencies: ReceiverDependencies,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<{
  state: Exclude<ReceiveState, 'off' | 'receiving'>
  failure: StoredFailure | null
} | null> {
  const { store, database } = dependencies
  const channel = await store.receiving.channel(given.id)
  const receive: ReceiveSettings | null = channel?.receive ?? null
  if (channel === undefined || receive === null) return { state: 'error', failure: null }
  const messenger = dependencies.messengerOf(channel.type)
  if (messenger?.receive === undefined) return { state: 'error', failure: null }
  let settings: unknown
  try {
    settings = dependencies.settingsOf(channel)
  } catch {
    return { state: 'error', failure: storedFailure('delivery_secret_unreadable') }
  }
  let place = channel.place
  try {
    await messenger.receive(
      settings,
      {
        get place() {
          return place
        },
        address: dependencies.addressOf(channel),
        async take(arrivals, next) {
          for (const arrival of arrivals) {
            if (signal.aborted) return
            await accept({ ...channel, receive }, arrival, dependencies)
          }
          if (next === undefined || next === place) return
          await database.write(async (tx) => {
            const known = await store.receiving.channel(channel.id, tx)
            // Whoever changed the channel meanwhile has said where it goes on.
            if (known === undefined || known.receive === null || known.place !== place) return
            await store.receiving.changeChannel(tx, channel.id, { place: next })
          })
          place = next
        },
        async connected() {
          onConnected()
          await setState(channel, 'receiving', null, dependencies)
        },
        unreadable(count) {
          dependencies.log.warn(
            { channel: channel.id, count },
            'some of what a messenger sent could not be read and is left out',
          )
        },
      },
      signal,
    )
    return null
  } catch (error) {
    if (error instanceof ReceivingEnded) return { state: error.state, failure: error.failure }
    throw error
  }
}

/** Stores whether a channel receives, if that has changed. */
async function setState(
  { id, userId }: ChannelRow,
  next: Exclude<ReceiveState, 'off'>,
  failure: StoredFailure | null,
  { database, store, announce }: ReceiverDependencies,
): Promise<void> {
  const known = await store.receiving.channel(id)
  const reason = failure?.reason ?? null
  if (known === undefined || (known.state === next && (known.fault?.reason ?? null) === reason))
    return
  await database.write(async (tx) => {
    await store.receiving.changeChannel(tx, id, {
      state: next,
      fault: failure === null ? null : { reason: failure.reason, params: failure.params },
    })
  })
  announce(userId, { type: 'channel', id, change: 'updated' })
}
