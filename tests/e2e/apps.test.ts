// Apps in a browser: beside a conversation, and a hostile one, which reaches nothing.
import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { attempts } from '../support/page/hostile-app.ts'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

const CALCULATOR = `<!doctype html><html lang="en"><title>Sum</title><main><h1>Version 1</h1>
<button onclick="nanoclaw.ask('Explain 6 × 7')">Explain</button>
<button onclick="window.dispatchEvent(new ErrorEvent('error', { message: 'It broke', lineno: 7 }))">Break</button></main>`

/** Everything that could reach the canary, the page or another app; \`results\` says what came of it. */
const hostile = (
  canary: string,
  udp: number,
  page: string,
  other: string,
): string => `<!doctype html>
<link rel="stylesheet" href="${canary}/style"><link rel="prefetch" href="${canary}/prefetch">
<link rel="preconnect" href="${canary}"><link rel="preload" as="image" href="${canary}/preload">
<script type="speculationrules">{"prefetch":[{"urls":["${canary}/speculation"]}]}</script>
<style>@font-face{font-family:f;src:url(${canary}/font)} body{font-family:f;background:url(${canary}/background)}</style>
<body>text<img src="${canary}/img"><video src="${canary}/video"></video><iframe src="${canary}/iframe"></iframe>
<object data="${canary}/object"></object>
<script>
const outcome = async (work) => { try { return await work() ?? 'done' } catch (error) { return 'refused' } }
${attempts(udp)}
window.results = (async () => {
  const results = {}
  for (const [name, work] of Object.entries({
    fetch: () => fetch('${canary}/fetch', { mode: 'no-cors' }).then(() => 'reached'),
    api: () => fetch('${page}/api/conversations', { mode: 'no-cors' }).then(() => 'reached'),
    other: () => fetch('${other}').then(() => 'reached'),
    beacon: () => navigator.sendBeacon('${canary}/beacon') ? 'done' : 'refused',
    socket: () => event(new WebSocket('${canary.replace('http', 'ws')}/socket')),
    events: () => event(new EventSource('${canary}/events')),
    script: () => added('script', { src: '${canary}/script' }),
    module: () => import('${canary}/module').then(() => 'reached'),
    worker: () => event(new Worker(URL.createObjectURL(new Blob(['fetch("${canary}/worker")'])))),
    service: () => navigator.serviceWorker.register('sw.js').then(() => 'reached'),
    parent: () => parent.document.title,
    top: () => { top.location.href = '${canary}/top'; return top.location.href },
    cookie: () => document.cookie,
    database: () => indexedDB.open('x') && 'reached',
    window: () => open('${canary}/window') === null ? 'refused' : 'reached',
    dialog: () => confirm('?') ? 'reached' : 'refused',
    peer,
  })) results[name] = await outcome(work)
  // Requests before it were sent, if they were.
  await added('img', { src: 'mark.svg' })
  return results
})()
</script>`

describeInBrowser('an app', (visitor) => {
  const on = usePageServer(visitor)
  let appsPort = 0
  beforeAll(async () => {
    const { appsServer } = on.server.server
    await appsServer?.listen({ host: '127.0.0.1', port: 0 })
    const probe = await on.createProject('Probe', { 'a.html': '' })
    const body = { project_id: probe, path: 'a.html' }
    const { json } = await on.server.call('POST', '/api/apps', { body })
    appsPort = Number(new URL(json.data.url).port)
  })

  test('runs beside the conversation, writes into the message field, reports its faults, and is loaded again when it changes', async () => {
    const project = await on.createProject(`Sums ${randomUUID()}`, { 'sum.html': CALCULATOR })
    const body = { project_id: project }
    const { json } = await on.server.call('POST', '/api/conversations', { body })
    const page = await visitor.open(`${on.server.url}/c/${json.data.id}`, { appsPort })
    await page.getByRole('button', { name: 'Project files' }).click()
    await page.getByRole('tree', { name: 'Files' }).getByText('sum.html').click()
    const frame = page.frameLocator('iframe[title="App sum.html"]')
    await frame.getByRole('button', { name: 'Explain' }).click()
    await expect.poll(() => composer(page).inputValue()).toBe('Explain 6 × 7')
    await frame.getByRole('button', { name: 'Break' }).click()
    await page.getByText('It broke (line 7)').waitFor()
    await page.getByRole('button', { name: 'Ask for a fix' }).click()
    await expect.poll(() => composer(page).inputValue()).toContain('sum.html reports an error')
    await expectAccessible(page)

    await page.getByRole('button', { name: 'Allow the network', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('button', { name: 'No longer allow the network' }).waitFor()
    await on.server.call('PUT', `/api/projects/${project}/files/sum.html`, {
      body: { content: CALCULATOR.replace('Version 1', 'Version 2') },
    })
    await frame.getByRole('heading', { name: 'Version 2' }).waitFor()
    await leave(page)
  })

  test('on a phone, back leads from it to the tree and to the conversation, and its fault is put into the message field, which is then in view', async () => {
    const project = await on.createProject(`Phone ${randomUUID()}`, { 'sum.html': CALCULATOR })
    const { json } = await on.server.call('POST', '/api/conversations', {
      body: { project_id: project },
    })
    const address = `${on.server.url}/c/${json.data.id}`
    const page = await visitor.open(address, { appsPort, phone: true })
    const open = async () => {
      await page
        .getByRole('button', { name: /^Actions/ })
        .first()
        .tap()
      await page.getByRole('menuitem', { name: 'Project files' }).tap()
    }
    const sheet = page.getByRole('dialog', { name: 'Project files' })
    const tree = page.getByRole('tree', { name: 'Files' })
    const frame = page.frameLocator('iframe[title="App sum.html"]')
    await open()
    await tree.getByText('sum.html').tap()
    await frame.getByRole('heading', { name: 'Version 1' }).waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    await page.goBack()
    await tree.getByText('sum.html').waitFor()
    await page.goBack()
    await sheet.waitFor({ state: 'detached' })
    expect(page.url()).toBe(address)

    await open()
    await tree.getByText('sum.html').tap()
    await frame.getByRole('button', { name: 'Explain' }).tap()
    // What an app says closes nothing by itself.
    await page.getByRole('button', { name: 'Show it' }).tap()
    await sheet.waitFor({ state: 'detached' })
    await composer(page).and(page.locator(':focus')).waitFor()
    expect(await composer(page).inputValue()).toBe('Explain 6 × 7')

    await open()
    await tree.getByText('sum.html').tap()
    await frame.getByRole('button', { name: 'Break' }).tap()
    await page.getByRole('button', { name: 'Ask for a fix' }).tap()
    await sheet.waitFor({ state: 'detached' })
    await composer(page).and(page.locator(':focus')).waitFor()
    expect(await composer(page).inputValue()).toContain('sum.html reports an error')
    expect(on.upstream.requests).toHaveLength(0)
    await leave(page)
  })

  test.each([
    { where: 'beside the conversation', phone: false },
    { where: 'on a phone', phone: true },
  ])(
    'can fill the window without being loaded again, $where, and Escape or back leaves that and nothing else',
    async ({ phone }) => {
      const project = await on.createProject(`Full ${randomUUID()}`, { 'sum.html': CALCULATOR })
      const { json } = await on.server.call('POST', '/api/conversations', {
        body: { project_id: project },
      })
      const page = await visitor.open(`${on.server.url}/c/${json.data.id}`, { appsPort, phone })
      if (phone) {
        await page
          .getByRole('button', { name: /^Actions/ })
          .first()
          .tap()
        await page.getByRole('menuitem', { name: 'Project files' }).tap()
      } else await page.getByRole('button', { name: 'Project files' }).click()
      await page.getByRole('tree', { name: 'Files' }).getByText('sum.html').click()
      const frame = page.frameLocator('iframe[title="App sum.html"]')
      await frame.getByRole('heading', { name: 'Version 1' }).waitFor()
      const inner = page.frames().find((one) => one.url().includes('/sum.html'))
      await inner?.evaluate('window.isSame = true')
      const full = page.getByRole('button', { name: 'Use the whole window' })
      const whole = page.getByRole('dialog', { name: 'sum.html' })
      const size = page.viewportSize()
      for (const leaveFull of [
        () => page.keyboard.press('Escape'),
        ...(phone ? [() => page.goBack()] : []),
      ]) {
        await full.focus()
        await page.keyboard.press('Enter')
        await whole.waitFor()
        expect(await whole.boundingBox()).toEqual({ x: 0, y: 0, ...size })
        await expectAccessible(page)
        // Nothing behind it can be reached.
        for (let presses = 0; presses < 8; presses += 1) {
          await page.keyboard.press('Tab')
          expect(
            await page.evaluate<boolean>(
              `document.activeElement === document.body || document.querySelector('[role=dialog][aria-label="sum.html"]').contains(document.activeElement)`,
            ),
          ).toBe(true)
        }
        await page.getByRole('button', { name: 'Back beside the page' }).focus()
        await leaveFull()
        await whole.waitFor({ state: 'detached' })
        await full.and(page.locator(':focus')).waitFor()
      }
      expect(await inner?.evaluate('window.isSame')).toBe(true)
      await page.getByRole('tab', { name: 'Files' }).waitFor()
      await leave(page)
    },
  )

  test('whose origin cannot be reached is shown without its scripts, which the page says, and can be tried again', async () => {
    const project = await on.createProject(`Lost ${randomUUID()}`, {
      'sum.html': CALCULATOR,
      'flow.mmd': 'flowchart LR\n  A --> B',
    })
    const page = await visitor.open(`${on.server.url}/projects/${project}`, { ownContext: true })
    await page.route(/\/v\//, (route) => route.abort())
    await page.getByRole('tree', { name: 'Files' }).getByText('sum.html').click()
    await page.getByRole('status').getByText('shown without its scripts and styles').waitFor()
    const frame = page.frameLocator('iframe[title="App sum.html"]')
    await frame.getByRole('heading', { name: 'Version 1' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('tree', { name: 'Files' }).getByText('flow.mmd').click()
    await page.getByRole('status').getByText('this kind of file needs it').waitFor()
    await page.getByRole('tree', { name: 'Files' }).getByText('sum.html').click()
    await page.getByRole('status').getByText('shown without its scripts and styles').waitFor()
    await page.unroute(/\/v\//)
    await page.getByRole('button', { name: 'Reload the app' }).click()
    await frame.getByRole('button', { name: 'Explain' }).waitFor()
    await page.getByText('shown without its scripts and styles').waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('of a React component runs with libraries of the server and files of its folder, and its faults name their line', async () => {
    const project = await on.createProject(`Component ${randomUUID()}`, {
      'tool/app.tsx': `import { useState } from 'react'
import { Plus } from 'lucide-react'
import { Total } from './total'
import './app.css'
import start from './start.json'
export default function App() {
  const [sum, setSum] = useState<number>(start.value)
  if (sum > 42) throw new Error('It is too much')
  return <main><Total sum={sum} /><button type="button" onClick={() => setSum(sum + 1)}><Plus /> More</button></main>
}`,
      'tool/total.tsx':
        'export const Total = ({ sum }: { sum: number }) => <h1 className="total">Total {sum}</h1>',
      'tool/app.css': '.total { color: rgb(1, 2, 3) }',
      'tool/start.json': '{ "value": 41 }',
    })
    const page = await visitor.open(`${on.server.url}/projects/${project}`, {
      appsPort,
      ownContext: true,
    })
    const tree = page.getByRole('tree', { name: 'Files' })
    await tree.getByText('tool').click()
    await tree.getByText('app.tsx').click()
    const frame = page.frameLocator('iframe[title="App tool/app.tsx"]')
    await frame.getByRole('heading', { name: 'Total 41' }).waitFor()
    const inner = page.frames().find((one) => one.url().includes('/tool/app.tsx'))
    const colour = "getComputedStyle(document.querySelector('.total')).color"
    expect(await inner?.evaluate(colour)).toBe('rgb(1, 2, 3)')
    await frame.getByRole('button', { name: 'More' }).click()
    await frame.getByRole('heading', { name: 'Total 42' }).waitFor()
    await frame.getByRole('button', { name: 'More' }).click()
    await page.getByText('It is too much (line 8)').waitFor()
    await on.server.call('PUT', `/api/projects/${project}/files/tool/total.tsx`, {
      body: { content: '\nexport const Total = <' },
    })
    await page.getByText('tool/total.tsx: Unexpected token (line 2)').first().waitFor()
    // Its fault is one of the test.
    await page.context().close()
  })

  test('that is hostile reaches neither the network nor the page, its server or another app, and cannot leave its frame', async () => {
    const hits: string[] = []
    const web = createServer((request, response) => {
      hits.push(request.url ?? '')
      response.setHeader('access-control-allow-origin', '*').end('reached')
    })
    web.on('upgrade', (request, socket) => {
      hits.push(`socket ${request.url}`)
      socket.destroy()
    })
    const stun = createSocket('udp4').on('message', () => hits.push('udp'))
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    await new Promise<void>((resolve) => stun.bind(0, '127.0.0.1', resolve))
    try {
      const canary = `http://127.0.0.1:${(web.address() as AddressInfo).port}` // of a server on a port, which it listens on
      const other = await on.createProject(`Other ${randomUUID()}`, { 'secret.html': 'a secret' })
      const opened = await on.server.call('POST', '/api/apps', {
        body: { project_id: other, path: 'secret.html' },
      })
      const project = await on.createProject(`Hostile ${randomUUID()}`, {
        'attack.html': hostile(canary, stun.address().port, on.server.url, opened.json.data.url),
        'leave.html': `<!doctype html><p>leaving</p><script>location.href = '${canary}/left'</script>`,
        'link.html': `<!doctype html><a href="${canary}/link" ping="${canary}/ping" download>link</a><script>document.querySelector('a').click()</script>`,
        'form.html': `<!doctype html><form action="${canary}/form" method="post"><input name="a"></form><script>document.forms[0].submit()</script>`,
        'refresh.html': `<!doctype html><meta http-equiv="refresh" content="0;url=${canary}/refreshed">`,
        'mark.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
        'sw.js': '',
      })
      const page = await visitor.open(`${on.server.url}/projects/${project}`, { ownContext: true })
      const address = page.url()
      const tree = page.getByRole('tree', { name: 'Files' })
      await tree.getByText('attack.html').click()
      const attack = () => page.frames().find((one) => one.url().includes('/attack.html'))
      await expect.poll(() => attack() !== undefined).toBe(true)
      const inner = attack()
      await inner?.waitForFunction('window.results !== undefined')
      const results = (await inner?.evaluate<Record<string, string>>('window.results')) ?? {}
      const reached = Object.entries(results).filter(([, outcome]) => outcome === 'reached')
      expect(reached).toEqual([])
      for (const name of ['fetch', 'api', 'other', 'script', 'service', 'parent', 'top', 'cookie'])
        expect([name, results[name]]).toEqual([name, 'refused'])
      for (const name of ['leave.html', 'link.html', 'form.html', 'refresh.html']) {
        await tree.getByText(name).click()
        await page.locator(`iframe[title="App ${name}"]`).waitFor()
        // The browser shows its own page for what the frame may not load.
        await expect
          .poll(() => page.frames().some((one) => one.url().startsWith('chrome-error:')))
          .toBe(true)
      }
      // The canary works, and nothing else has come to it.
      await fetch(`${canary}/control`)
      expect(hits).toEqual(['/control'])
      expect(page.url()).toBe(address)
      expect(
        await page.evaluate('document.cookie + Object.keys(window.results ?? {}).join()'),
      ).toBe('')
      await tree.getByText('attack.html').waitFor()
      await page.context().close()
    } finally {
      web.close()
      stun.close()
    }
  })
})
