// The three APIs and MCP servers of both eras in one story, as a new user would try them, through two kills of the server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAskingLegacy, startAskingModern } from '../fixtures/mcp-asking-servers.ts'
import { describeInBrowser, leave, say, visit } from '../support/page/page.ts'
import { messagesTurn } from '../support/provider/messages-turns.ts'
import { called, reasoned, responsesTurn, said } from '../support/provider/responses-turns.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { iterationOf } from '../support/provider/upstream-programs.ts'
import { type Turn, turn } from '../support/provider/upstream-turns.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const sum = { expression: '6 * 7' }

/** Thinking with a call, thinking with another call, and the answer, as each API streams them. */
const conversations: Record<string, Turn[]> = {
  chat: [
    turn.toolCalls([{ id: 'c1', name: 'calculator', arguments: sum }], {
      thinking: 'First a sum.',
    }),
    turn.toolCalls([{ id: 'c2', name: 'get_current_time' }], { thinking: 'Now the time.' }),
    turn.text('Chat says 42.'),
  ],
  responses: [
    responsesTurn([reasoned('First a sum.', 'sealed-1'), called('r1', 'calculator', sum)]),
    responsesTurn([reasoned('Now the time.', 'sealed-2'), called('r2', 'get_current_time')]),
    responsesTurn([said('Responses says 42.')]),
  ],
  messages: [
    messagesTurn([
      { type: 'thinking', thinking: 'First a sum.', signature: 'signed-1' },
      { type: 'tool_use', id: 'm1', name: 'calculator', input: sum },
    ]),
    messagesTurn([
      { type: 'thinking', thinking: 'Now the time.', signature: 'signed-2' },
      { type: 'tool_use', id: 'm2', name: 'get_current_time', input: {} },
    ]),
    messagesTurn([{ type: 'text', text: 'Messages says 42.' }]),
  ],
}

describeInBrowser('models and MCP servers', (visitor) => {
  let upstream: Upstream
  let modern: Awaited<ReturnType<typeof startAskingModern>>
  let legacy: Awaited<ReturnType<typeof startAskingLegacy>>
  let folder: string
  let place: ServerPlace
  let server: ServerProcess
  let page: Page

  beforeAll(async () => {
    ;[upstream, modern, legacy] = await Promise.all([
      startUpstream(),
      startAskingModern(),
      startAskingLegacy(),
    ])
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-models-'))
    const model = { api_url: upstream.url, thinking: true, vision: true }
    place = await serverPlace(folder, {
      models: Object.keys(conversations).map((api) => ({ ...model, id: api, name: api, api })),
      titles: 'first_message',
      max_iterations: 40,
      approval: { default: 'auto' },
      mcp_servers: { modern: { url: modern.url }, legacy: { url: legacy.url } },
    })
    server = await place.start()
    page = await visitor.open(server.url, { withBuiltPage: true })
  })
  afterAll(async () => {
    await leave(page)
    await place.close()
    await Promise.all([upstream.close(), modern.close(), legacy.close()])
    rmSync(folder, { recursive: true, force: true })
  })
  const shot = async (name: string) => {
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` })
  }

  test('each API answers with two tool iterations, thinking and an image, and the next API continues the conversation', async () => {
    for (const [api, turns] of Object.entries(conversations)) {
      upstream.enqueueFor({ model: api }, ...turns)
      if (api !== 'chat') {
        await page.getByRole('button', { name: /^Model: / }).click()
        await page.getByRole('option', { name: api }).click()
      }
      await page.getByRole('button', { name: `Model: ${api}` }).waitFor()
      await page.locator('input[type=file]').setInputFiles({
        name: `${api}.png`,
        mimeType: 'image/png',
        buffer: Buffer.from(PICTURE, 'base64'),
      })
      await page.getByRole('list', { name: 'Attachments' }).getByText(`${api}.png`).waitFor()
      await say(page, `What does ${api} see?`)
      await page
        .getByText(/^\w+ says 42\.$/)
        .nth(Object.keys(conversations).indexOf(api))
        .waitFor()
      await shot(`story-${api}`)
    }
    expect(
      upstream.requests.filter(({ method }) => method === 'POST').map(({ model }) => model),
    ).toEqual(Object.keys(conversations).flatMap((api) => [api, api, api]))
    const last = JSON.stringify(upstream.requests.at(-1)?.body)
    // The third API gets the texts and calls of the other two, but only its own signatures.
    for (const part of ['Chat says 42.', 'Responses says 42.', 'c1', 'c2', 'r1', 'r2', 'm1', 'm2'])
      expect(last).toContain(part)
    expect(last.split(PICTURE)).toHaveLength(4)
    expect([...last.matchAll(/(?:sealed|signed)-\d/g)].map(String)).toEqual([
      'signed-1',
      'signed-2',
    ])
  })

  test('an answer of 30 iterations shows its share of cached input', async () => {
    // A provider whose cache holds what each request has in common with the previous one.
    let previous = ''
    upstream.program(({ body, messages }) => {
      const sent = JSON.stringify(body.tools) + JSON.stringify(body.messages)
      let same = 0
      while (same < previous.length && sent[same] === previous[same]) same += 1
      previous = sent
      const prompt_tokens = Math.round(sent.length / 4)
      const usage = {
        prompt_tokens,
        completion_tokens: 10,
        total_tokens: prompt_tokens + 10,
        prompt_tokens_details: { cached_tokens: Math.floor(same / 4) },
      }
      const at = iterationOf({ messages })
      return at < 30
        ? turn.toolCalls([{ name: 'calculator', arguments: { expression: `${at} + 1` } }], {
            usage,
          })
        : turn.text('Thirty sums are done.', { usage })
    })
    await visit(page, '/')
    await page.getByRole('button', { name: /^Model: / }).click()
    await page.getByRole('option', { name: 'chat' }).click()
    await say(page, 'Add thirty times')
    await page.getByText('Thirty sums are done.').waitFor()
    await page.getByRole('button', { name: 'More actions' }).last().click()
    const figures = page.getByRole('menu').getByText(/ in, .* cached/)
    await figures.waitFor()
    await shot('story-cached')
    const share = Number(/\((\d+)%\)/.exec(await figures.innerText())?.[1])
    expect(share).toBeGreaterThan(90)
    await page.keyboard.press('Escape')
    upstream.reset()
  })

  test.each(['modern', 'legacy'] as const)(
    'a question of a %s MCP server is answered on the page after kill -9, and the tool completes once',
    async (era) => {
      const asking = era === 'modern' ? modern : legacy
      await visit(page, '/')
      upstream.enqueue(
        turn.toolCalls([{ name: `mcp__${era}__book`, arguments: { day: 'Friday' } }]),
        turn.text(`Booked by the ${era} server.`),
      )
      await say(page, `Book at ${era}`)
      const card = page.locator('[data-input]')
      await card.getByText(new URL(asking.url).host).waitFor()
      await server.kill('SIGKILL')
      await page.getByText('Connection lost').first().waitFor()
      server = await place.start()
      await page.getByText('Connection lost').first().waitFor({ state: 'detached' })
      await card.getByLabel('Seats').fill('3')
      await shot(`story-${era}`)
      await card.getByRole('button', { name: 'Send' }).click()
      await page.getByText(`Booked by the ${era} server.`).waitFor()
      expect(await card.count()).toBe(0)
      expect(asking.booked).toEqual([{ day: 'Friday', seats: 3 }])
    },
  )
})
