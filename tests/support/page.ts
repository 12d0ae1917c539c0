// The page in a real browser: built once for a test file, served by a real server, looked at with headless Chromium.
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect } from 'vitest'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .concat(process.env.CHROMIUM_PATH ?? [])
  .find((path) => existsSync(path))

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface PageOptions {
  theme?: 'light' | 'dark'
  language?: 'en-US' | 'zh-CN'
  /** A phone: narrow, with touch. */
  phone?: boolean
  /** The server at the address runs from its sources and may have no page of its own: it is given the built one. */
  withBuiltPage?: boolean
}

/** What a page did that no page may do: thrown errors, refused resources, requests to elsewhere. */
const faultsOf = new WeakMap<Page, string[]>()

export interface Visitor {
  open(url: string, options?: PageOptions): Promise<Page>
  /** The folder of the built page, for the server that serves it. */
  webRoot(): string
}

/** A suite in a real browser; skipped with a clear message where there is none. */
export function describeInBrowser(name: string, suite: (visitor: Visitor) => void): void {
  if (executablePath === undefined) {
    describe.skip(`${name} (no Chromium here: install it, or name it in CHROMIUM_PATH)`, () => {
      suite({ open: () => Promise.reject(new Error('no browser')), webRoot: () => '' })
    })
    return
  }
  // A browser on a busy machine may take its time; no test measures it.
  describe(name, { timeout: 180_000 }, () => {
    let browser: Browser
    const root = mkdtempSync(join(tmpdir(), 'nanoclaw-page-'))
    beforeAll(async () => {
      await build({
        configFile: resolve(import.meta.dirname, '../../web/vite.config.ts'),
        logLevel: 'error',
        build: { outDir: root, emptyOutDir: true },
      })
      browser = await chromium.launch({ executablePath, args: flags })
    })
    afterAll(async () => {
      await browser?.close()
      rmSync(root, { recursive: true, force: true })
    })
    suite({
      webRoot: () => root,
      async open(url, options = {}) {
        const { theme = 'light', language = 'en-US', phone = false } = options
        const context = await browser.newContext({
          viewport: phone ? { width: 375, height: 740 } : { width: 1280, height: 800 },
          hasTouch: phone,
          isMobile: phone,
          colorScheme: theme,
          locale: language,
          reducedMotion: 'reduce',
        })
        context.setDefaultTimeout(45_000)
        if (options.withBuiltPage === true) await givePage(context, root)
        const page = await context.newPage()
        watch(page, new URL(url).origin)
        await page.goto(url)
        return page
      },
    })
  })
}

/** Answers everything but the API from the built page, as a server does. */
async function givePage(context: BrowserContext, root: string): Promise<void> {
  await context.route(
    ({ pathname }) => !pathname.startsWith('/api/'),
    async (route) => {
      const file = join(root, new URL(route.request().url()).pathname)
      const isFile = existsSync(file) && statSync(file).isFile()
      await route.fulfill({ path: isFile ? file : join(root, 'index.html') })
    },
  )
}

function watch(page: Page, origin: string): void {
  const faults: string[] = []
  faultsOf.set(page, faults)
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`))
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) faults.push(`request to ${url}`)
  })
}

/** Closes the page's context after looking for what no page may do. */
export async function leave(page: Page): Promise<void> {
  expect(faultsOf.get(page) ?? []).toEqual([])
  await page.context().close()
}

/** No accessibility fault that axe can find. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(
    violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`,
    ),
  ).toEqual([])
}

/** Nothing is wider than the window. */
export async function expectNoSideways(page: Page): Promise<void> {
  const wider = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect(wider).toBeLessThanOrEqual(0)
}

export const composer = (page: Page) => page.locator('#composer')

/** Writes a message and sends it with the Enter key. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}
