// A page is watched over a change to summer time and a kill in the night; its news, an approval and an undo at Telegram; then the page.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, onTestFinished, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startBotApi, TELEGRAM_TOKEN } from '../support/messengers/telegram-api.ts'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import type { UpstreamRequest } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { callServer } from '../support/server/call-server.ts'
import { serverPlace } from '../support/server/server-process.ts'
import { startWebSite } from '../support/web-site.ts'

const upstream = await useUpstream()

const DAY_MS = 86_400_000
/** The clock of the server is set to shortly before what is to happen. */
const BEFORE_MS = 4_000
const ANN = { id: 77, is_bot: false, first_name: 'Ann' }
const EVE = { id: 99, is_bot: false, first_name: 'Eve' }
const STRANGE = 'Which prices does Ann watch?'
const WISH = 'Every weekday at 8, look at this page and tell me only if it changed: '

/** The next Sunday on which clocks in Berlin go from two to three, at midnight in UTC. */
function changeToSummer(): number {
  const last = new Date(Date.UTC(new Date().getUTCFullYear() + 1, 2, 31))
  return last.getTime() - last.getUTCDay() * DAY_MS
}
const SUNDAY = changeToSummer()
/** A time of a day in UTC: an hour before that of Berlin in winter, two before it in summer. */
const at = (day: number, time: string): string =>
  `${new Date(SUNDAY + day * DAY_MS).toISOString().slice(0, 10)}T${time}:00.000Z`

const lastOf = ({ messages }: UpstreamRequest) => messages.at(-1)
const lastWritten = ({ messages }: UpstreamRequest): string =>
  JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content)

/** What the model does with what it is asked. */
function play(request: UpstreamRequest, page: string) {
  const wish = lastWritten(request)
  const isFirst = lastOf(request)?.role === 'user'
  if (wish.includes(WISH))
    return isFirst
      ? turn.toolCalls([
          {
            name: 'schedule_create',
            arguments: {
              name: 'Prices',
              text: `Look at ${page}. Say what changed, if anything did.`,
              when: { cron: '0 8 * * 1-5' },
              quiet: true,
            },
          },
        ])
      : turn.text('I look at it every weekday at 8.')
  if (wish.includes('Write it down'))
    return isFirst
      ? turn.toolCalls([
          {
            name: 'file_edit',
            arguments: { path: 'prices.md', old: 'Tea: 10', new: 'Tea: 12' },
          },
        ])
      : turn.text('I have written it down.')
  if (wish.includes('what-changed.diff') || wish.includes('+Tea: 12'))
    return turn.text('Tea now costs 12.')
  if (isFirst) return turn.toolCalls([{ name: 'fetch_page', arguments: { url: page } }])
  return turn.toolCalls([{ name: 'nothing_to_report', arguments: { reason: 'The same prices.' } }])
}

describeInBrowser('a page that is looked at while nobody is there', (visitor) => {
  test('is told of once, at eight of the person’s clock; what they then ask for is approved, undone and seen on the page', async () => {
    const site = await startWebSite()
    onTestFinished(() => site.close())
    const price = { current: 'Tea: 10' }
    site.page('/prices', (_request, response) => {
      response.setHeader('content-type', 'text/plain; charset=utf-8').end(price.current)
    })
    const watched = `${site.origin}/prices`
    upstream.program((request) => play(request, watched))
    const telegram = await startBotApi()
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-unattended-'))
    const clock = pathToFileURL(join(import.meta.dirname, '../support/clock-ahead.mjs')).href
    const place = await serverPlace(
      folder,
      {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        telegram: { api_url: telegram.url },
        network: { allow_private: ['127.0.0.1'] },
      },
      ['--import', clock, join(inject('serverBuild'), 'main.js')],
    )
    onTestFinished(async () => {
      await place.close()
      rmSync(folder, { recursive: true, force: true })
    })
    /** Starts the server with its clock shortly before this time. */
    const startBefore = async (time: string) => {
      const ahead = Date.parse(time) - BEFORE_MS - Date.now()
      return await place.start({ wrapper: ['env', `AHEAD_MS=${ahead}`] })
    }
    let server = await startBefore(at(-4, '12:00'))
    /** The server dies where it is, and is started again later. */
    const killUntil = async (time: string) => {
      await server.kill('SIGKILL')
      server = await startBefore(time)
    }
    const call = async (method: string, path: string, body?: unknown) => {
      const { status, data } = await callServer(server.url, method, path, body)
      expect([path, status]).toEqual([path, 200])
      return data
    }
    const texts = () => telegram.of('sendMessage').map(({ body }) => String(body.text))
    const written = (update: number, from: typeof ANN, text: string) =>
      telegram.updates.push({
        update_id: update,
        message: { message_id: update, from, chat: { id: from.id, type: 'private' }, text },
      })
    /** Presses the first button of the newest message that has some and that contains this text. */
    const press = async (update: number, text: string) => {
      const found = await eventually(() => {
        const card = telegram
          .of('sendMessage')
          .findLast(
            ({ body }) => body.reply_markup !== undefined && String(body.text).includes(text),
          )
        expect(card).toBeDefined()
        return card
      })
      const [[button]] = Object(found?.body.reply_markup).inline_keyboard
      telegram.updates.push({
        update_id: update,
        callback_query: {
          id: `q${update}`,
          from: ANN,
          data: button.callback_data,
          message: { ...Object(found?.result), from: { id: 123456, is_bot: true } },
        },
      })
    }

    // Wednesday: what is wanted, in the person's words.
    await call('PATCH', '/api/preferences', { time_zone: 'Europe/Berlin' })
    const project = await call('POST', '/api/projects', { name: 'Shop' })
    const prices = `/api/projects/${project.id}/files/prices.md`
    await call('PUT', prices, { content: 'Tea: 10\n' })
    const noted = async () => (await call('GET', prices)).content
    await call('POST', '/api/channels', {
      type: 'telegram',
      name: 'phone',
      settings: { bot_token: TELEGRAM_TOKEN, chat_id: ANN.id },
      receive: { project_id: project.id },
    })
    const conversation = await call('POST', '/api/conversations', {})
    const { run } = await call('POST', `/api/conversations/${conversation.id}/messages`, {
      text: WISH + watched,
      stream: false,
    })
    const [asked] = run.pending_approvals
    await call('POST', `/api/runs/${run.id}/approvals`, {
      id_ref: asked.id_ref,
      decision: 'approve',
    })
    const made = await eventually(async () => {
      const [one] = (await call('GET', '/api/schedules')).items
      expect(one).toMatchObject({ name: 'Prices', quiet: true })
      return one
    })
    const schedule = `/api/schedules/${made.id}`
    const states = async () =>
      (await call('GET', `${schedule}/occurrences`)).items.map(
        ({ due_at: due, state }: Record<string, string>) => [due, state],
      )
    expect((await call('GET', schedule)).next_at.slice(0, 13)).toBe(at(-3, '07:00').slice(0, 13))
    await call('PATCH', schedule, { when: { cron: '0 8 * * 1-5', exact: true } })

    // Thursday, at 8 in winter: nothing has changed, and nobody is told.
    await killUntil(at(-3, '07:00'))
    await eventually(async () => expect(await states()).toEqual([[at(-3, '07:00'), 'quiet']]))

    // At noon the person changes it: the page is compared without a model, and what is new comes by Telegram.
    await killUntil(at(-3, '11:00'))
    await call('PATCH', schedule, { watch: { page: watched }, notify: ['channel:phone'] })
    const calledBefore = upstream.requests.length

    // Friday, at 8: the first look at the page.
    await killUntil(at(-2, '07:00'))
    await eventually(async () =>
      expect((await call('GET', schedule)).watched_at?.slice(0, 16)).toBe(
        at(-2, '07:00').slice(0, 16),
      ),
    )

    // The page changes at the weekend, as clocks do; the server is killed in the night.
    price.current = 'Tea: 12'
    await killUntil(at(1, '01:30'))
    expect(await states()).toHaveLength(1)
    expect(upstream.requests).toHaveLength(calledBefore)
    expect(texts()).toEqual([])

    // Monday, at 8 in summer: an hour earlier.
    await killUntil(at(1, '06:00'))
    await eventually(() => expect(texts()).toEqual(['Prices\n\nTea now costs 12.']))
    expect(await states()).toEqual([
      [at(1, '06:00'), 'done'],
      [at(-3, '07:00'), 'quiet'],
    ])
    expect((await call('GET', schedule)).next_at).toBe(at(2, '06:00'))

    // Somebody else writes to the bot, before and after the person.
    const models = upstream.requests.length
    written(1, EVE, STRANGE)
    await eventually(() => expect(texts().filter((text) => CODE.test(text))).toHaveLength(1))
    written(2, ANN, 'Write it down.')
    await press(3, 'prices.md')
    await eventually(() => expect(texts()).toContain('I have written it down.'))
    expect(await noted()).toBe('Tea: 12\n')
    written(4, ANN, '/undo')
    await press(5, 'Restore')
    await eventually(async () => expect(await noted()).toBe('Tea: 10\n'))
    written(6, EVE, STRANGE)
    written(7, ANN, '/status')
    await eventually(() => expect(texts().at(-1)).toMatch(/Nothing/))
    // What a stranger was told is how to be let in, once; nothing of theirs is anywhere.
    const toEve = telegram.of('sendMessage').filter(({ body }) => Number(body.chat_id) === EVE.id)
    expect(toEve).toHaveLength(1)
    expect(JSON.stringify(toEve)).not.toMatch(/Tea|Prices|Shop|Ann/)
    expect(upstream.requests).toHaveLength(models + 2)
    expect(JSON.stringify(upstream.requests)).not.toContain(STRANGE)

    // The same conversation on the page, with what was done.
    const { items } = await call('GET', '/api/conversations')
    const chat = items.find((one: { channel?: { name: string } }) => one.channel?.name === 'phone')
    const page = await visitor.open(`${server.url}/c/${chat.id}`, { withBuiltPage: true })
    await page.getByText('Write it down.').waitFor()
    await page.getByText('I have written it down.').waitFor()
    const receipt = page.getByRole('region', { name: 'What was done' })
    await receipt.getByRole('button').first().waitFor()
    expect(await page.getByText(STRANGE).count()).toBe(0)
    const from = page.getByRole('complementary', { name: 'Chat of this conversation' })
    await from.getByText('Telegram · phone · Ann').waitFor()
    await expectAccessible(page)
    await page.goto(`${server.url}/c/${(await call('GET', schedule)).last.conversation_id}`)
    await page.getByText('Tea now costs 12.').waitFor()
    await leave(page)
  })
})

const CODE = /\b[A-HJ-NP-Z2-9]{8}\b/
