// Agents in a real browser: sub-agent cards, background tasks, memory, MCP servers, documents.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream, type UpstreamRequest } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const handbook = resolve(import.meta.dirname, '../fixtures/documents/handbook-zh.pdf')

/** A promise that the test resolves when the upstream may continue. */
function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((settle) => {
    open = settle
  })
  return { opened, open }
}

const lastText = (request: UpstreamRequest): string =>
  String(request.messages.findLast(({ role }) => role === 'user')?.content)
const answered = (request: UpstreamRequest): boolean =>
  request.messages.some(({ role }) => role === 'tool')

describeInBrowser('agents in the page', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: {
        ...scripted(upstream),
        tools: { risk: { get_current_time: 'high' } },
        mcp_servers: {
          shopping: {
            command: process.execPath,
            args: [resolve(import.meta.dirname, '../../examples/mcp-server.mjs')],
            trust_hints: true,
          },
          away: { command: '/nonexistent-mcp-server' },
        },
      },
      webRoot: visitor.webRoot(),
    })
    await server.server.toolsReady
  })
  afterAll(() => upstream.close())
  beforeEach(() => upstream.reset())

  test('three sub-agents show their work live; one fails with its reason while the others continue', async () => {
    const moon = gate()
    upstream.program((request) => {
      const task = lastText(request)
      if (task.includes('measure the sun'))
        return answered(request)
          ? turn.text('It is 1.39 million km wide.')
          : turn.toolCalls([{ name: 'calculator', arguments: { expression: '2 * 695000' } }])
      if (task.includes('measure the moon'))
        return turn.text('It is 3,475 km wide.', { until: moon.opened })
      if (task.includes('measure nothing')) return turn.error(400, 'there is nothing to measure')
      return answered(request)
        ? turn.text('The sun is **400 times** wider.')
        : turn.toolCalls([
            {
              name: 'multi_agent',
              arguments: {
                tasks: [
                  { name: 'Sun', instruction: 'measure the sun' },
                  { name: 'Moon', instruction: 'measure the moon' },
                  { name: 'Void', instruction: 'measure nothing' },
                ],
              },
            },
          ])
    })
    const page = await visitor.open(server.url)
    await say(page, 'Compare them.')
    const agent = (name: string) =>
      page.getByRole('list', { name: 'Sub-agents' }).getByRole('listitem').filter({ hasText: name })
    // Updated live, while another sub-agent is still working.
    await agent('Sun').getByText('done').first().waitFor()
    await agent('Sun').getByText('1.39 million').waitFor()
    await agent('Sun').getByText('2 * 695000').waitFor()
    await agent('Void').getByText('failed').waitFor()
    await agent('Moon').getByText('waiting').or(agent('Moon').getByText('working')).waitFor()
    moon.open()
    await page.getByText('400 times').waitFor()
    await agent('Moon').getByText('3,475 km').waitFor()
    await agent('Void').getByText('there is nothing to measure').waitFor()
    await expectAccessible(page)
    await page.reload()
    await agent('Void').getByText('there is nothing to measure').waitFor()
    await agent('Sun').getByText('2 * 695000').waitFor()
    await leave(page)
  })

  test('a background task is listed while the chat continues and announces its answer; another can be stopped', async () => {
    const stars = gate()
    const never = gate()
    upstream.program((request) => {
      const text = lastText(request)
      if (text === 'count the stars')
        return turn.text('There are 9,096 of them.', { until: stars.opened })
      if (text === 'count the sand')
        return answered(request)
          ? turn.text('Too many.', { until: never.opened })
          : turn.toolCalls(
              ['a', 'b'].map((id) => ({ id, name: 'get_current_time', arguments: {} })),
            )
      if (text === 'Hello.') return turn.text('Hello to you.')
      return answered(request)
        ? turn.text('Both are on their way.')
        : turn.toolCalls([
            { id: 'one', name: 'spawn', arguments: { task: 'count the stars' } },
            { id: 'two', name: 'spawn', arguments: { task: 'count the sand' } },
          ])
    })
    const page = await visitor.open(server.url)
    await say(page, 'Count everything.')
    await page.getByText('Both are on their way.').waitFor()
    const tasks = page.getByRole('region', { name: 'Background tasks' })
    await tasks.getByText('count the stars').waitFor()
    await tasks.getByText('count the sand').waitFor()
    // Approval requests of one task are distinguishable.
    for (const place of ['1 of 2', '2 of 2'])
      await tasks.getByRole('region', { name: place }).waitFor()
    await say(page, 'Hello.')
    await page.getByText('Hello to you.').waitFor()
    await expectAccessible(page)
    await page.reload()
    await tasks.getByText('count the sand').waitFor()
    await tasks
      .getByRole('listitem')
      .filter({ hasText: 'count the sand' })
      .getByRole('button', { name: 'Stop' })
      .click()
    await tasks.getByText('count the sand').waitFor({ state: 'detached' })
    stars.open()
    await page.getByRole('article').getByText('There are 9,096 of them.').waitFor()
    await page.getByText('Background task: count the stars').waitFor()
    await tasks.waitFor({ state: 'detached' })
    never.open()
    await leave(page)
  })

  test('a fact remembered in one conversation is known in another and can be deleted by the user', async () => {
    const known: boolean[] = []
    upstream.program((request) => {
      if (lastText(request) === 'I drink oolong.')
        return answered(request)
          ? turn.text('I will remember.')
          : turn.toolCalls([{ name: 'save_memory', arguments: { fact: 'Drinks oolong' } }])
      known.push(String(request.messages[0]?.content).includes('Drinks oolong'))
      return turn.text('Here you are.')
    })
    await server.call('PUT', '/api/memory', { body: { content: 'I live in Wuyi.\n' } })
    const page = await visitor.open(server.url)
    await say(page, 'I drink oolong.')
    await page.getByText('I will remember.').waitFor()
    await page.goto(server.url)
    await say(page, 'A drink, please.')
    await page.getByText('Here you are.').waitFor()
    // Only now: in a conversation with such a fact in its context, saving to memory requires approval.
    const { content } = (await server.call('GET', '/api/memory')).json.data
    await server.call('PUT', '/api/memory', {
      body: { content: `${content.trimEnd()}\n- 2026-01-02: Has a cat (from outside text)\n` },
    })
    await page.goto(`${server.url}/memory`)
    const facts = page.getByRole('region', { name: '2 remembered facts' })
    await facts.getByText('from a web page or file').waitFor()
    await expectAccessible(page)
    await facts.getByRole('button', { name: 'Forget: Drinks oolong' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Forget' }).click()
    await page.getByRole('region', { name: '1 remembered fact' }).waitFor()
    await page.getByLabel('Full text').fill('I live in Paris.\n')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect((await server.call('GET', '/api/memory')).json.data.content).toBe('I live in Paris.\n')
    await page.goto(server.url)
    await say(page, 'Another one, please.')
    await page.getByText('Here you are.').waitFor()
    expect(known).toEqual([true, false])
    await leave(page)
  })

  test('MCP servers show their status and can be switched off for one conversation', async () => {
    const offered: string[][] = []
    upstream.program((request) => {
      const tools = (request.body.tools ?? []) as { function: { name: string } }[]
      offered.push(
        tools.map((tool) => tool.function.name).filter((name) => name.includes('shopping')),
      )
      return turn.text(`Answer ${offered.length}.`)
    })
    const page = await visitor.open(`${server.url}/settings/mcp`)
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await row('shopping').getByText('connected').waitFor()
    await row('away').getByText('unreachable, retrying').first().waitFor()
    await expectAccessible(page)
    await page.goto(server.url)
    await say(page, 'What is on my list?')
    await page.getByText('Answer 1.').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    await page
      .getByRole('button', { name: /settings/i })
      .last()
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('switch', { name: /shopping/ }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await say(page, 'And now?')
    await page.getByText('Answer 2.').waitFor()
    expect(offered.map((names) => names.length > 0)).toEqual([true, false])
    await leave(page)
  })

  test('a Chinese PDF is read and cited with its page; a bad file fails alone with its reason', async () => {
    const { json } = await server.call('POST', '/api/projects', { body: { name: 'Library' } })
    upstream.program((request) =>
      answered(request)
        ? turn.text('一年有十二天。')
        : turn.toolCalls([{ name: 'search_knowledge', arguments: { query: '年假有多少天' } }]),
    )
    const page = await visitor.open(`${server.url}/projects/${json.data.id}`, {
      language: 'zh-CN',
      theme: 'dark',
    })
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([
        { name: 'handbook.pdf', mimeType: 'application/pdf', buffer: await readFile(handbook) },
        { name: 'bad.pdf', mimeType: 'application/pdf', buffer: Buffer.from('no PDF at all') },
      ])
    await page.getByRole('button', { name: '设为可搜索' }).click()
    const row = (name: RegExp) => page.getByRole('treeitem', { name })
    await row(/handbook\.pdf/)
      .getByText('可搜索', { exact: true })
      .waitFor({ state: 'attached' })
    const unreadable = row(/bad\.pdf/).getByText('无法读取，不能搜索')
    await unreadable.waitFor({ state: 'attached' })
    await row(/bad\.pdf/).click()
    await page.locator('.text-bad').first().waitFor()
    await expectAccessible(page)
    await page.getByRole('switch', { name: '可搜索', checked: true }).press('Space')
    await unreadable.waitFor({ state: 'detached' })
    await page.goto(`${server.url}/?project=${json.data.id}`)
    await page.getByRole('button', { name: /Library/ }).waitFor()
    await say(page, '年假有多少天？')
    await page.getByText('一年有十二天。').waitFor()
    const sources = page.getByRole('region', { name: '来源' })
    await sources.getByRole('button', { name: '1 个来源' }).click()
    await sources.getByRole('list').getByRole('button', { name: 'handbook.pdf' }).click()
    await page
      .getByRole('dialog', { name: 'handbook.pdf' })
      .getByText('十二天带薪年假')
      .first()
      .waitFor()
    await leave(page)
  })
})
