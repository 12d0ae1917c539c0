// How long the home of a project takes to open, and how soon a changed app is in the panel beside its conversation.
import { z } from 'zod'
import { median, percentile, type Row } from '../row.ts'
import { open, row, type Target } from './page.ts'

const ROUNDS = 15
const HOME_LIMIT = 1.2
const PANEL_LIMIT_MS = 300
const WRITES = 20

const Created = z.object({ data: z.object({ id: z.string() }) })

/** Sends a JSON request to the measured server. */
async function send(
  { url }: Target,
  method: string,
  path: string,
  body: object,
): Promise<{ data: { id: string } } | null> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return Created.safeParse(await response.json()).data ?? null
}

const idOf = (created: Awaited<ReturnType<typeof send>>): string => {
  if (created === null) throw new Error('nothing was created')
  return created.data.id
}

const app = (version: number): string =>
  `<!doctype html><html lang="en"><title>App</title><h1>Version ${version}</h1></html>`

/** Milliseconds from navigation until all of these are shown. */
async function opening(target: Target, path: string, selectors: string[]): Promise<number> {
  const began = performance.now()
  const { page } = await open(target, path)
  for (const selector of selectors) await page.locator(selector).first().waitFor()
  const took = performance.now() - began
  await page.context().close()
  return took
}

/** Milliseconds from the response to a write until the frame shows it. */
async function changing(target: Target, project: string, conversation: string): Promise<number[]> {
  const { page } = await open(target, `/c/${conversation}`)
  await page.getByRole('button', { name: 'Project files' }).click()
  await page.getByRole('tree', { name: 'Files' }).getByText('app.html').click()
  const frame = page.frameLocator('iframe[title="App app.html"]')
  await frame.getByRole('heading', { name: 'Version 0' }).waitFor()
  const times: number[] = []
  for (let version = 1; version <= WRITES; version += 1) {
    await send(target, 'PUT', `/api/projects/${project}/files/app.html`, { content: app(version) })
    const began = performance.now()
    await frame.getByRole('heading', { name: `Version ${version}` }).waitFor()
    times.push(performance.now() - began)
  }
  await page.context().close()
  return times
}

/** Creates a project with a conversation, an app, a starter and some files, as one that is in use. */
export async function measureProjects(target: Target): Promise<Row[]> {
  const project = idOf(await send(target, 'POST', '/api/projects', { name: 'Bench' }))
  const starters = [{ title: 'Begin', text: 'How do we begin?' }]
  await send(target, 'PUT', `/api/projects/${project}`, { icon: '📚', starters })
  const write = (path: string, content: string) =>
    send(target, 'PUT', `/api/projects/${project}/files/${path}`, { content })
  for (let at = 0; at < 20; at += 1) await write(`notes/note-${at}.md`, `# Note ${at}\n`)
  await write('app.html', app(0))
  let conversation = ''
  for (let at = 0; at < 10; at += 1) {
    conversation = idOf(
      await send(target, 'POST', '/api/conversations', {
        project_id: project,
        title: `Talk ${at}`,
      }),
    )
    const message = { text: 'Hello', stream: false }
    await send(target, 'POST', `/api/conversations/${conversation}/messages`, message)
  }
  const home: number[] = []
  const chat: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    home.push(
      await opening(target, `/?project=${project}`, [
        'h1:has-text("Bench")',
        'button:has-text("Begin")',
        'a:has-text("Talk 9")',
      ]),
    )
    chat.push(
      await opening(target, `/c/${conversation}`, ['article', 'article[aria-label*="nswer"]']),
    )
  }
  const times = await changing(target, project, conversation)
  const [ratio, base] = [median(home) / median(chat), median(chat)]
  const [p50, p95] = [median(times), percentile(times, 0.95)]
  return [
    row(
      `opening a project's home vs. a conversation (${base.toFixed(0)} ms)`,
      `≤ ${HOME_LIMIT} ×`,
      ratio,
      '×',
      ratio <= HOME_LIMIT,
    ),
    row(
      'changed app in the panel after its write, p50',
      `≤ ${PANEL_LIMIT_MS} ms`,
      p50,
      'ms',
      p50 <= PANEL_LIMIT_MS,
    ),
    row(
      'changed app in the panel after its write, p95',
      `≤ ${PANEL_LIMIT_MS} ms`,
      p95,
      'ms',
      p95 <= PANEL_LIMIT_MS,
    ),
  ]
}
