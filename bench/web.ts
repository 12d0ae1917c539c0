// The 'page' figures (`npm run bench:web`): download sizes, the time to open a long conversation and a project, and how the page
// responds while an answer streams in. Needs Chromium; builds the server and the page where they are outdated. Arguments name
// the parts to measure, such as `npm run bench:web -- contents`; without any, all are.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { buildOutdated } from '../scripts/build-outdated.mjs'
import { startUpstream } from '../tests/support/provider/upstream.ts'
import type { Turn } from '../tests/support/provider/upstream-turns.ts'
import { freePort } from '../tests/support/server/free-port.ts'
import { startNanoClaw } from './processes/start.ts'
import { beginResult, type StoredRow, shownValue } from './results.ts'
import type { Row } from './row.ts'
import { shortAnswer } from './web/answers.ts'
import { measureConversationList } from './web/conversation-list.ts'
import { measureDownloads } from './web/downloads.ts'
import { measureOpening } from './web/opening.ts'
import type { Target } from './web/page.ts'
import { measureProjects } from './web/projects.ts'
import {
  measureBesideTable,
  measureContents,
  measureHeap,
  measureResponsiveness,
} from './web/responsiveness.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .concat(process.env.CHROMIUM_PATH ?? [])
  .find((path) => existsSync(path))
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync']

/** The measured rows and the names of the parts that failed. A part that fails does not stop the others. */
type Measured = { rows: StoredRow[]; failures: string[] }

async function run(browserPath: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-bench-web-'))
  const upstream = await startUpstream()
  let next: Turn | null = null
  upstream.program(() => {
    const turn = next ?? shortAnswer()
    next = null
    return turn
  })
  const port = await freePort()
  const file = join(folder, 'data.sqlite')
  const config = join(folder, 'config.yml')
  writeFileSync(
    config,
    JSON.stringify({
      backend_port: port,
      data_dir: join(folder, 'data'),
      db_sqlite_file: file,
      workspace_root: join(folder, 'workspaces'),
      titles: 'off',
      models: [{ id: 'bench', api_url: upstream.url, api_key: 'none' }],
    }),
  )
  const server = await startNanoClaw(config, port, folder)
  const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS })
  const target: Target = {
    url: `http://127.0.0.1:${port}`,
    browser,
    answerNext: (turn) => {
      next = turn
    },
  }
  try {
    const parts: Record<string, () => Promise<Row[]>> = {
      downloads: async () => measureDownloads(),
      opening: () => measureOpening(target, file),
      projects: () => measureProjects(target),
      responsiveness: () => measureResponsiveness(target),
      contents: () => measureContents(target),
      'beside a table': () => measureBesideTable(target),
      heap: async () => [await measureHeap(target)],
      'conversation list': () => measureConversationList(target, file),
    }
    const rows: Row[] = []
    const failures: string[] = []
    const chosen = process.argv.slice(2)
    for (const [name, part] of Object.entries(parts)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue
      try {
        rows.push(...(await part()))
      } catch (error) {
        console.error(error)
        failures.push(name)
      }
    }
    return { rows, failures }
  } finally {
    await browser.close()
    await server.stop()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (executablePath === undefined) {
  console.error('Chromium was not found. Install it, or set CHROMIUM_PATH to its executable.')
  process.exit(2)
}
if (!buildOutdated()) {
  console.error('The build failed. Nothing was measured.')
  process.exit(1)
}
const result = beginResult('web')
const { rows, failures } = await run(executablePath)
for (const row of rows)
  console.log(`${row.ok ? 'ok    ' : 'MISSED'}  ${row.figure}: ${shownValue(row)} (${row.target})`)
for (const failed of failures) console.log(`Not measured: ${failed}`)
result.store(rows, failures)
console.log(result.file)
process.exitCode = failures.length > 0 ? 1 : 0
