// First-time setup in a real browser: the demonstration, a detected Ollama, a probe, the first chat.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useServers } from '../support/server/server.ts'

const KEY = 'sk-typed-in-the-page-1234'
const MISTYPED_KEY = 'sk-mistyped'

/** Starts a fake Ollama on Ollama's port; null if a real one or another test already uses the port. */
async function startOllama(): Promise<Server | null> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"version":"0.6.0"}')
  })
  return new Promise((settle) => {
    server.once('error', () => settle(null))
    server.listen(11_434, '127.0.0.1', () => settle(server))
  })
}

describeInBrowser('setup', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let ollama: Server | null
  beforeAll(async () => {
    upstream = await startUpstream()
    ollama = await startOllama()
  })
  beforeEach(() => upstream.reset())
  afterAll(async () => {
    ollama?.close()
    await upstream.close()
  })

  test('a new user talks to the demo, adds a provider that is probed, and talks to its model', async () => {
    const server = await servers.start({
      config: { titles: 'first_message' },
      webRoot: visitor.webRoot(),
    })
    upstream.program((request) =>
      request.apiKey !== KEY
        ? turn.error(401, 'bad key')
        : request.path.endsWith('/chat/completions')
          ? turn.text('a red pong')
          : undefined,
    )
    const page = await visitor.open(server.url)
    await page.getByText('built-in demo').waitFor()
    await page.getByRole('link', { name: 'Add a real model' }).click()
    // It begins with what is needed; the language is a step before it.
    await page.getByRole('heading', { name: 'Connect a provider' }).waitFor()
    await page.goto(`${server.url}/setup?step=language`)
    await page.getByRole('radio', { name: '简体中文' }).check()
    await page.getByRole('heading', { name: '选择语言' }).waitFor()
    await page.getByRole('radio', { name: 'English' }).check()
    await expectAccessible(page)
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/setup-language.png` })
    await page.getByRole('button', { name: 'Next' }).press('Enter')
    await page
      .getByRole('heading', { name: 'Connect a provider' })
      .and(page.locator(':focus'))
      .waitFor()
    await page.getByRole('button', { name: 'DeepSeek' }).click()
    await expect
      .poll(() => page.getByLabel('Address').inputValue())
      .toBe('https://api.deepseek.com/v1')
    expect(await page.getByRole('link', { name: 'Get an API key' }).getAttribute('href')).toBe(
      'https://platform.deepseek.com/api_keys',
    )
    // A key stays with its provider.
    await page.getByLabel('API key').fill('of deepseek')
    await page.getByRole('button', { name: 'OpenRouter' }).click()
    expect(await page.getByLabel('API key').inputValue()).toBe('')
    await page.getByRole('button', { name: 'DeepSeek' }).click()
    expect(await page.getByLabel('API key').inputValue()).toBe('of deepseek')
    await page.getByLabel('API key').fill('')
    if (ollama !== null) {
      await page.getByRole('button', { name: /^Ollama.*running on this machine/ }).click()
      await expect.poll(() => page.getByLabel('Address').inputValue()).toContain(':11434/v1')
    }

    await page.getByLabel('Address').fill('http://127.0.0.1:1/v1')
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Address').and(page.locator(':focus')).waitFor()
    expect(await page.getByRole('button', { name: 'Add this model' }).count()).toBe(0)

    await page.getByLabel('Address').fill(upstream.url)
    await page.reload()
    await expect.poll(() => page.getByLabel('Address').inputValue()).toBe(upstream.url)
    await page.getByLabel('API key').fill(MISTYPED_KEY)
    await page.getByRole('button', { name: 'Test' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('Make sure it’s complete and belongs to this provider').waitFor()
    await page.getByLabel('API key').and(page.locator(':focus')).waitFor()
    await page.getByLabel('API key').fill('')
    await page.getByRole('button', { name: 'Test' }).click()
    await alert.getByText('This provider needs an API key').waitFor()
    await page.getByLabel('API key').fill(KEY)
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('1 model available').waitFor()
    await expect.poll(() => page.getByLabel('Model').inputValue()).toBe('test-model')
    await expectAccessible(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/setup-models.png` })
    await page.getByRole('button', { name: 'Back' }).click()
    expect(await page.getByLabel('Address').inputValue()).toBe(upstream.url)
    await page.goBack()
    await page.getByRole('button', { name: 'Add this model' }).click()
    await page.getByRole('heading', { name: 'Ready. Ask something' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Ready. Ask something' }).waitFor()
    await expectAccessible(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/setup-try.png` })
    await page.getByRole('list', { name: 'Things to try' }).getByRole('button').first().click()
    await page.getByText('a red pong').waitFor()
    expect(upstream.requests.at(-1)?.apiKey).toBe(KEY)
    await page.goto(`${server.url}/settings/models`)
    await page.getByText('test-model').first().waitFor()
    expect(await page.content()).not.toContain(KEY)
    await leave(page)
  })

  test('an administrator changes the key of all models of an address at once, and a model that is added again can be replaced', async () => {
    const server = await servers.start({
      config: { titles: 'off' },
      webRoot: visitor.webRoot(),
    })
    for (const id of ['test-model', 'other-model'])
      await server.call('POST', '/api/admin/models', {
        body: { id, api_url: upstream.url, api_key: 'sk-of-last-year' },
      })
    upstream.program((request) =>
      request.path.endsWith('/chat/completions') ? turn.text('a red pong') : undefined,
    )
    const lastOf = async (model: string) => {
      const { id } = (await server.call('POST', '/api/conversations', { body: { model } })).json
        .data
      await server.call('POST', `/api/conversations/${id}/messages`, {
        body: { text: 'ping', stream: false },
      })
      return upstream.requests.at(-1)
    }
    const page = await visitor.open(`${server.url}/settings/models`)
    await page.getByRole('button', { name: 'Edit test-model' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Address (URL)').inputValue()).toBe(upstream.url)
    expect(await dialog.getByLabel('API key').inputValue()).toBe('')
    await dialog.getByLabel('API key').fill(KEY)
    await dialog.getByRole('switch', { name: 'For all 2 models of this address' }).waitFor()
    await expectAccessible(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/model-key.png` })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    for (const id of ['test-model', 'other-model']) expect((await lastOf(id))?.apiKey).toBe(KEY)

    await page.goto(`${server.url}/setup?step=provider`)
    await page.getByLabel('Address').fill(upstream.url)
    await page.getByLabel('API key').fill('sk-of-next-year')
    await page.getByLabel('Other headers').fill('X-Team: red')
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('1 model available').waitFor()
    await page.getByRole('button', { name: 'Add this model' }).click()
    await page
      .getByRole('alert')
      .getByRole('button', { name: 'Replace “test-model” with these settings' })
      .click()
    await page.getByRole('heading', { name: 'Ready. Ask something' }).waitFor()
    const request = await lastOf('test-model')
    expect(request?.apiKey).toBe('sk-of-next-year')
    expect(request?.headers['x-team']).toBe('red')
    await leave(page)
  })
})
