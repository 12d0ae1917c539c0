// The page in a real browser: built once for all tests, served by a real server, looked at with headless Chromium.
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { builtPage } from './built.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .concat(process.env.CHROMIUM_PATH ?? [])
  .find((path) => existsSync(path))

/** A host name that leads to this machine and that no browser takes for it: plain HTTP there is no secure context. */
export const REMOTE_HOST = 'nanoclaw.test'

const flags = [
  `--host-resolver-rules=MAP ${REMOTE_HOST} 127.0.0.1`,
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
  /**
   * Opened over plain HTTP from another machine, as the browser sees it. The server has to be started with
   * `trusted_hosts: [REMOTE_HOST]`.
   */
  remote?: boolean
  /** How many times slower the processor is than this one. */
  slowCpu?: number
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
    let root = ''
    beforeAll(async () => {
      root = await builtPage()
      browser = await chromium.launch({ executablePath, args: flags })
    })
    afterAll(async () => {
      await browser?.close()
    })
    suite({
      webRoot: () => root,
      async open(url, options = {}) {
        const { theme = 'light', language = 'en-US', phone = false } = options
        const context = await browser.newContext({
          viewport: phone ? { width: 390, height: 760 } : { width: 1280, height: 800 },
          hasTouch: phone,
          isMobile: phone,
          colorScheme: theme,
          locale: language,
          reducedMotion: 'reduce',
        })
        context.setDefaultTimeout(45_000)
        if (options.withBuiltPage === true) await givePage(context, root)
        const page = await context.newPage()
        const address = new URL(url)
        if (options.remote === true) address.hostname = REMOTE_HOST
        watch(page, address.origin)
        if (options.slowCpu !== undefined) await slowDown(page, options.slowCpu)
        await page.goto(address.href)
        return page
      },
    })
  })
}

async function slowDown(page: Page, rate: number): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
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

/** No accessibility fault that axe can find; with more contrast asked for, texts have the enhanced one. */
export async function expectAccessible(
  page: Page,
  { contrast = 'normal' }: { contrast?: 'normal' | 'more' } = {},
): Promise<void> {
  // The page has no frames to be looked into, so no second page is needed to put results together.
  const axe = new AxeBuilder({ page }).setLegacyMode(true)
  if (contrast === 'more') axe.withRules(['color-contrast-enhanced'])
  const { violations } = await axe.analyze()
  expect(
    violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`,
    ),
  ).toEqual([])
}

/** Goes to another view within the page, as a link does: nothing is loaded anew. Tabs of one view share its heading. */
export async function visit(page: Page, path: string): Promise<void> {
  const view = (pathname: string) => pathname.split('/')[1]
  const stays = view(new URL(page.url()).pathname) === view(path)
  await page.evaluate(`(() => {
    if (!${stays}) document.querySelector('h1')?.setAttribute('data-before', '')
    history.pushState(null, '', ${JSON.stringify(path)})
  })()`)
  await page.locator('h1:not([data-before])').waitFor()
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
