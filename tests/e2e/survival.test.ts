// The server is killed in the middle of an answer, or restarts: the page goes on by itself, and a second browser sees the same.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { type Turn, turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'

const Created = z.object({ data: z.object({ id: z.string() }) })
const Messages = z.object({
  data: z.object({ items: z.array(z.object({ text: z.string() })) }),
})

const FIRST_HALF = Array.from({ length: 30 }, (_, at) => `Sentence ${at} of the tale.`).join(' ')
const SECOND_HALF = 'And here the tale ends.'

/** A turn that tells the whole tale and pauses in the middle until the promise resolves. */
function tale(until: Promise<unknown>): Turn {
  const whole = turn.thinking('Now I tell it.', `${FIRST_HALF} ${SECOND_HALF}`, { delayMs: 2 })
  const middle = whole.actions.findIndex(
    (action) => 'send' in action && String(action.send).includes('And h'),
  )
  return {
    ...whole,
    actions: [...whole.actions.slice(0, middle), { until }, ...whole.actions.slice(middle)],
  }
}

describeInBrowser('a server that is killed in the middle of an answer', (visitor) => {
  let upstream: Upstream
  let folder: string
  let place: ServerPlace
  let server: ServerProcess
  /** Resumes the paused tale. */
  let release = (): void => {}

  beforeAll(async () => {
    upstream = await startUpstream()
    upstream.program(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').length
      if (results === 0)
        return turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }], {
          thinking: 'First a sum.',
          text: 'Let me calculate.',
        })
      if (results === 1)
        return turn.toolCalls([{ name: 'get_current_time' }], { text: 'And the time.' })
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      return tale(gate)
    })
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-survival-'))
    place = await serverPlace(folder, scripted(upstream))
    server = await place.start()
  })
  afterAll(async () => {
    await place?.close()
    await upstream?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const middleReached = (page: Page) =>
    page.getByText('Sentence 29 of the tale.', { exact: false }).waitFor()

  test('the answer continues on the same page and in a second browser', async () => {
    const page = await visitor.open(server.url, { withBuiltPage: true })
    await say(page, 'Calculate, look at the clock, then tell me a tale.')
    await middleReached(page)

    await server.kill('SIGKILL')
    await page.getByText('Connection lost').first().waitFor()
    await page.getByText('Sentence 5 of the tale.', { exact: false }).waitFor()
    // The error that keeps the run from continuing is shown in the server's words, and the request is retried.
    const full = 'The disk is full. Nothing was stored. Free some space and try again.'
    await page.route(/\/api\/runs\/[^/]+\/events/, (route) =>
      route.fulfill({ status: 507, json: { code: 507, message: full } }),
    )
    await page.getByText(full).first().waitFor()
    await page.unroute(/\/api\/runs\/[^/]+\/events/)
    server = await place.start()
    await page.getByText(full).first().waitFor({ state: 'detached' })
    await page.getByText('Connection lost').first().waitFor({ state: 'detached' })
    await middleReached(page)

    const second = await visitor.open(page.url(), { withBuiltPage: true })
    await middleReached(second)
    release()
    for (const window of [page, second]) {
      await window.getByText(SECOND_HALF, { exact: false }).waitFor()
      await window.getByRole('button', { name: 'Send', exact: true }).waitFor()
      const answer = window.getByRole('article', { name: 'Answer' })
      await answer.getByRole('button', { name: 'Regenerate' }).waitFor()
      await expect.poll(() => answer.getByRole('button', { name: /^Calculate/ }).count()).toBe(1)
      const lastSentence = answer.locator('p').filter({ hasText: 'Sentence 29' })
      await expect
        .poll(() => lastSentence.allTextContents())
        .toEqual([`${FIRST_HALF} ${SECOND_HALF}`])
    }
    const shown = (window: Page) => window.getByRole('article', { name: 'Answer' }).innerText()
    await expect.poll(() => shown(second)).toBe(await shown(page))
    await leave(second)
    await leave(page)
  })
})

describeInBrowser('a server that restarts', (visitor) => {
  let upstream: Upstream
  let folder: string
  let place: ServerPlace
  beforeAll(async () => {
    upstream = await startUpstream()
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-restart-'))
    // Its run never ends by itself, so the server refuses new ones until a second signal.
    place = await serverPlace(folder, { ...scripted(upstream), shutdown_grace: 600 })
  })
  afterAll(async () => {
    await place?.close()
    await upstream?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('and refuses a message gets it once it is back: it is sent once, and neither the reader nor the page does anything for it', async () => {
    let server = await place.start()
    const created = async () => {
      const response = await fetch(`${server.url}/api/conversations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      return Created.parse(await response.json()).data.id
    }
    const [busy, own] = [await created(), await created()]
    upstream.enqueue(turn.text('Never.', { until: new Promise(() => {}) }))
    const held = await openEvents(`${server.url}/api/conversations/${busy}/messages`, {
      body: { text: 'Take your time' },
    })
    await held.next(({ event }) => event === 'run')
    await upstream.nextRequest()

    const page = await visitor.open(`${server.url}/c/${own}`, { withBuiltPage: true })
    await page.evaluate('window.isUntouched = true')
    process.kill(server.pid, 'SIGTERM')
    const readiness = async () => (await fetch(`${server.url}/readyz`)).status
    await expect.poll(readiness).toBe(503)
    const refused = page.waitForResponse(
      (response) => response.url().endsWith('/messages') && response.status() === 503,
    )
    await say(page, 'Are you back?')
    expect(await (await refused).json()).toMatchObject({ reason: 'shutting_down' })

    await server.kill('SIGKILL')
    upstream.program(({ messages }) =>
      turn.text(
        String(messages.at(-1)?.content).includes('back') ? 'I am back.' : 'Another answer.',
      ),
    )
    server = await place.start()
    await page.getByText('I am back.').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    expect(await page.evaluate('window.isUntouched')).toBe(true)
    const stored = await fetch(`${server.url}/api/conversations/${own}/messages`)
    const { items } = Messages.parse(await stored.json()).data
    expect(items.map(({ text }) => text)).toEqual(['Are you back?', 'I am back.'])
    await leave(page)
  })
})
