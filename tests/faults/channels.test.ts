// Messengers that give everything again to a server that is killed: one run for each message, each answer arrives, strangers get nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startMailServer } from '../server/messaging/receivers.ts'
import { eventually } from '../support/eventually.ts'
import { startMailbox } from '../support/messengers/imap-server.ts'
import { SLACK_TOKENS, startSlack } from '../support/messengers/slack-api.ts'
import { startBotApi, TELEGRAM_TOKEN } from '../support/messengers/telegram-api.ts'
import type { UpstreamRequest } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { callServer } from '../support/server/call-server.ts'
import { databaseKeys } from '../support/server/server.ts'
import { NO_PROGRAMS, type ServerProcess, serverPlace } from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'

const isFull = process.env.FAULTS === 'full'
/** `npm run test:faults` runs the long form, others a short one. */
const ROUNDS = Number(process.env.KILLS ?? (isFull ? 200 : 3))

const STRANGERS = isFull ? 1_000 : 100
const LIMIT_MS = 3_600_000
/** A person starts at most sixty runs an hour. */
const ROUNDS_EACH = 50
/** The approximate number of requests and acknowledgements of a round. */
const EVENTS = 16
const TIMES = 3
/** Kills before all that runs may end. */
const BURST = 5

const upstream = await useUpstream()
const databases = useDatabases()

/** The word by which a message and its answer are known. */
const wordOf = (text: unknown): string => /\bword-[a-z]+-\d+\b/.exec(String(text))?.[0] ?? ''
const lastText = ({ messages }: UpstreamRequest): string =>
  JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content)

/** A built server with the three messengers from which a server fetches what people write. */
async function startWorld(dialect: (typeof DIALECTS)[number]) {
  const [telegram, slack, box, post] = await Promise.all([
    startBotApi(),
    startSlack({ times: TIMES }),
    startMailbox(),
    startMailServer(),
  ])
  onTestFinished(() => slack.close())
  onTestFinished(() => box.close())
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-channels-'))
  const settings = await databases.migrated(dialect)
  const place = await serverPlace(folder, {
    ...databaseKeys(settings),
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    ...NO_PROGRAMS,
    log_level: 'warn',
    public_url: 'https://claw.example.org',
    telegram: { api_url: telegram.url },
    slack: { api_url: slack.url },
    smtp: post.smtp,
    network: { allow_private: ['127.0.0.1'] },
  })
  onTestFinished(async () => {
    await place.close()
    rmSync(folder, { recursive: true, force: true })
  })
  let server: ServerProcess = await place.start()
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, data } = await callServer(server.url, method, path, body)
    expect([path, status]).toEqual([path, 200])
    return data
  }
  const create = async (type: string, settings: Record<string, unknown>) =>
    await call('POST', '/api/channels', { type, name: type, settings, receive: {} })
  let update = 0
  let ts = 1_700_000_000
  const channels = {
    telegram: await create('telegram', { bot_token: TELEGRAM_TOKEN }),
    slack: await create('slack', SLACK_TOKENS),
    email: await create('email', { imap: box.imap, address: 'agent@example.org' }),
  }
  await eventually(async () => {
    const { items } = await call('GET', '/api/channels')
    expect(items.map(({ state }: { state: string }) => state)).toEqual(TIMES_RECEIVING)
  })

  /** What a person writes, each time in a thread of its own. */
  const say = {
    telegram(
      text: string,
      { from = 77, ...more }: Record<string, unknown> & { from?: number } = {},
    ) {
      update += 1
      telegram.updates.push({
        update_id: update,
        message: {
          message_id: update,
          from: { id: from, is_bot: false, first_name: `P${from}` },
          chat: { id: from, type: 'private' },
          is_topic_message: true,
          message_thread_id: update,
          text,
          ...more,
        },
      })
    },
    slack(text: string, { from = 77, ...more }: Record<string, unknown> & { from?: number } = {}) {
      ts += 1
      const place = { channel: `D${from}`, thread_ts: `${ts}.000100` }
      slack.say({ ...place, user: `U${from}`, text, ts: `${ts}.000100`, ...more })
    },
    email(
      text: string,
      { from = 77, headers = [PASSED] }: { from?: number; headers?: string[] } = {},
    ) {
      update += 1
      const mail = [
        ...headers,
        `From: P${from} <p${from}@example.com>`,
        `To: ${channels.email.address}`,
        'Subject: A question',
        `Message-ID: <m${update}@example.com>`,
        'Content-Type: text/plain; charset=utf-8',
        '',
        text,
      ]
      for (let time = 0; time < TIMES; time += 1) box.deliver(mail)
    },
  }
  /** The texts that arrived at each messenger, in order. */
  const texts = {
    telegram: () => telegram.of('sendMessage').map(({ body }) => String(body.text)),
    slack: () => slack.texts().map(String),
    email: () => post.mails.map((mail) => mail.slice(mail.indexOf('\r\n\r\n'))),
  }
  return {
    telegram,
    slack,
    post,
    channels,
    say,
    texts,
    call,
    logged: () => server.logged(),
    /** What has happened so far, at the model and at messengers. */
    events: () =>
      upstream.requests.length +
      telegram.calls.filter(({ method }) => method !== 'getUpdates').length +
      slack.calls.length +
      [...slack.acknowledged.values()].reduce((sum, count) => sum + count, 0) +
      post.mails.length,
    async restart() {
      await server.kill('SIGKILL')
      server = await place.start()
    },
    /** Pairs a person at each messenger with the code that they are told. */
    async pair(from: number) {
      for (const kind of KINDS) {
        const before = texts[kind]().length
        say[kind]('Good day.', { from })
        const told = await eventually(() => {
          const [code] = texts[kind]()
            .slice(before)
            .flatMap((text) => codeIn(text) ?? [])
          expect(code).toBeDefined()
          return code
        })
        await call('POST', '/api/channels/pair', { code: told })
      }
    },
    /** Everything that the database has stored. */
    async stored(): Promise<string> {
      const { read, tables } = await databases.connect(settings)
      const rows = await Promise.all(
        Object.values(tables).map((table) => read.select().from(table)),
      )
      return JSON.stringify(rows)
    },
    async conversations() {
      const found: { id: string; channel?: { type: string } }[] = []
      for (let cursor = ''; ; ) {
        const page = await call('GET', `/api/conversations?limit=100${cursor}`)
        found.push(...page.items)
        if (!page.has_more) return found
        cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
      }
    },
  }
}

const KINDS = ['telegram', 'slack', 'email'] as const
const TIMES_RECEIVING = KINDS.map(() => 'receiving')
const PASSED = 'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com'
const FORGED = 'Authentication-Results: mx.example.org; dmarc=fail header.from=example.com'
/** How many strangers of a channel have a code at once; the others are not answered. */
const MAX_PENDING = 3
const codeIn = (text: string): string | undefined => /\b[A-HJ-NP-Z2-9]{8}\b/.exec(text)?.[0]

describe.each(DIALECTS)('messengers of a server on %s', (dialect) => {
  test(
    `that give everything ${TIMES} times get one run and one answer for each message, through ${ROUNDS} kills (SEED=${SEED})`,
    async () => {
      const random = randomFrom(SEED)
      upstream.program((request) =>
        turn.text(`This answers ${wordOf(lastText(request))}.`, { delayMs: 5 }),
      )
      const world = await startWorld(dialect)
      const words: string[] = []
      const allArrive = () =>
        eventually(() => {
          const arrived = new Set(KINDS.flatMap((kind) => world.texts[kind]().map(wordOf)))
          expect(words.filter((word) => !arrived.has(word))).toEqual([])
        })
      for (let round = 0; round < ROUNDS; round += 1) {
        const from = 100 + Math.floor(round / ROUNDS_EACH)
        if (round % ROUNDS_EACH === 0) await world.pair(from)
        const begun = world.events()
        for (const kind of KINDS) {
          words.push(`word-${kind}-${round}`)
          world.say[kind](`Say word-${kind}-${round}`, { from })
        }
        const wanted = random.below(EVENTS)
        const newest = words.slice(-KINDS.length)
        await eventually(() => {
          const isAnswered = KINDS.every((kind, at) =>
            world.texts[kind]().some((text) => wordOf(text) === newest[at]),
          )
          expect(isAnswered || world.events() - begun >= wanted).toBe(true)
        })
        await world.restart()
        // A run is given up when its process died eight times without progress.
        if (round % BURST === BURST - 1) await allArrive()
      }
      await allArrive()
      for (const kind of KINDS) {
        const answers = world.texts[kind]()
          .map(wordOf)
          .filter((word) => word !== '')
        const repeated = answers.length - new Set(answers).size
        expect(repeated, `parts that ${kind} was sent twice`).toBeLessThanOrEqual(ROUNDS)
      }
      const conversations = await world.conversations()
      const asked: string[] = []
      for (const { id } of conversations) {
        const { items } = await world.call('GET', `/api/conversations/${id}/messages`)
        // One question, one answer: a second run would be another message.
        expect(items.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
        asked.push(wordOf(items[1].text))
      }
      expect(asked.toSorted()).toEqual(words.toSorted())
    },
    LIMIT_MS,
  )

  test('the message about a run that works goes away, whether the server dies before the answer or after it', async () => {
    const answer = { current: turn.text('') }
    upstream.program(() => answer.current)
    const world = await startWorld(dialect)
    const { telegram } = world
    await world.pair(77)
    const deleted = () => telegram.of('deleteMessage').map(({ body }) => Number(body.message_id))
    const shown = () =>
      telegram.of('sendMessage').findIndex(({ body }) => /^…/.test(String(body.text)))
    for (const moment of ['before', 'after'] as const) {
      telegram.calls.splice(0)
      let finish: () => void = () => undefined
      const until = new Promise<void>((resolve) => {
        finish = resolve
      })
      answer.current = turn.text(`This answers word-${moment}-1.`, { until })
      world.say.telegram('Take your time.')
      await eventually(() => expect(shown()).not.toBe(-1))
      const progress = Object(telegram.of('sendMessage')[shown()]?.result).message_id
      // That it types is shown again only after the message has been stored.
      const typed = telegram.of('sendChatAction').length
      await eventually(() => expect(telegram.of('sendChatAction').length).toBeGreaterThan(typed))
      if (moment === 'before') await world.restart()
      else telegram.refusals.set('deleteMessage', 500)
      finish()
      await eventually(() =>
        expect(world.texts.telegram()).toContain(`This answers word-${moment}-1.`),
      )
      if (moment === 'after') {
        await eventually(() => expect(deleted()).toContain(progress))
        await world.restart()
        telegram.calls.splice(0)
        telegram.refusals.clear()
      }
      await eventually(() => expect(deleted()).toEqual([progress]))
    }
  })

  test(`${STRANGERS} messages of strangers and in the name of others start nothing, are answered once an hour each, and are stored nowhere (SEED=${SEED})`, async () => {
    const random = randomFrom(SEED)
    upstream.program((request) => turn.text(`This answers ${wordOf(lastText(request))}.`))
    const world = await startWorld(dialect)
    await world.pair(77)
    const asked = upstream.requests.length
    const told = KINDS.map((kind) => world.texts[kind]().length)
    const SECRET = 'heron-tangerine'
    const strangers = [501, 502, 503, 504]
    const last = 'word-mine-1'
    for (let count = 0; count < STRANGERS; count += 1) {
      const from = random.pick(strangers)
      const text = `${SECRET} ${count}`
      random.pick([
        () => world.say.telegram(text, { from }),
        // In a chat of somebody who may write, and what they wrote.
        () => world.say.telegram(text, { from, chat: { id: 77, type: 'private' } }),
        () =>
          world.say.telegram(text, {
            from,
            forward_origin: { type: 'user', sender_user: { id: 77 } },
          }),
        () => world.say.telegram(`/approve ${text}`, { from }),
        () => world.say.slack(text, { from }),
        () => world.say.slack(text, { from, channel: 'D77' }),
        () => world.say.email(text, { from }),
        // In the name of somebody who may write, as the receiving server says.
        // In the name of somebody who may write, which the receiving server says or the header shows.
        () => world.say.email(text, { headers: [FORGED] }),
        () => world.say.email(text, { headers: [PASSED, 'From: Eve <eve@evil.test>'] }),
      ])()
    }
    // Each messenger gives what comes in order.
    for (const kind of KINDS) world.say[kind](`Say ${last}`)
    await eventually(() => {
      for (const kind of KINDS) expect(world.texts[kind]().map(wordOf)).toContain(last)
    })
    expect(upstream.requests).toHaveLength(asked + KINDS.length)
    for (const [at, kind] of KINDS.entries()) {
      // Without the answer to the one message that is no stranger's, and what says that it is worked on.
      const replies = world.texts[kind]()
        .slice(told[at])
        .filter((text) => wordOf(text) !== last && !text.startsWith('…')).length
      expect(replies, `replies through ${kind}`).toBeGreaterThan(0)
      expect(replies, `replies through ${kind}`).toBeLessThanOrEqual(MAX_PENDING)
    }
    expect(await world.stored()).not.toContain(SECRET)
    expect(world.logged()).not.toContain(SECRET)
    expect(await world.conversations()).toHaveLength(KINDS.length)
  })
})
