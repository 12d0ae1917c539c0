// The page in headless Chromium: built once for all tests and served by a real server.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { beforeAll, describe, expect } from 'vitest'
import { builtPage } from '../built.ts'

/** In order of preference: Chromium without a user interface takes a fifth less work, and Debian has it on its own. */
const executablePath = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path))

/** Resolves to this machine, but browsers do not treat it as localhost: plain HTTP on it is not a secure context. */
export const REMOTE_HOST = 'nanoclaw.test'

const OFF_IN_PLAYWRIGHT = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]
/**
 * Chromium starts a process for each site, and one more in advance. All pages are those of one application, and a process
 * that has loaded it once loads it again with less work: 0.71 instead of 0.91 s of processor time per load (means of two
 * alternating runs each, load 20).
 */
const PROCESS_FOR_EACH_SITE = [
  'SpareRendererForSitePerProcess',
  'IsolateOrigins',
  'site-per-process',
]
/** Pages of Chromium's own address bar: with them enabled, each window loads two more pages, half a second of work. */
const ADDRESS_BAR_PAGES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']
/**
 * A page is open for seconds: optimizing its code takes longer than running it, and collecting garbage on several threads
 * only adds work while other tests keep the cores busy. 32 tests took 41 instead of 48 s, and 70 instead of 85 s of
 * processor time (means of two alternating runs each, load 4).
 */
const PAGE_FLAGS = '--no-opt --no-maglev --single-threaded-gc --min-semi-space-size=16'

/** A machine with a mouse; headless browsers report neither hover nor a pointer. Touch emulation replaces both. */
const MOUSE =
  'primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4'

const flags = [
  `--blink-settings=${MOUSE}`,
  `--host-resolver-rules=MAP ${REMOTE_HOST} 127.0.0.1`,
  // A microphone that every page may use and that hears a beep.
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  `--js-flags=${PAGE_FLAGS}`,
  // The last of several such switches wins, so this one repeats what Playwright disables.
  `--disable-features=${[...OFF_IN_PLAYWRIGHT, ...PROCESS_FOR_EACH_SITE, ...ADDRESS_BAR_PAGES].join()}`,
]

export interface PageOptions {
  theme?: 'light' | 'dark'
  language?: 'en-US' | 'zh-CN' | 'zh-TW' | 'de-DE'
  /** Emulates a phone: a narrow viewport with touch. */
  phone?: boolean
  /**
   * Opens the page as if over plain HTTP from another machine. The server must be started with
   * `trusted_hosts: [REMOTE_HOST]`.
   */
  remote?: boolean
  /** Serves the built page from the browser, for a server process whose build may have no page. */
  withBuiltPage?: boolean
  /** Lets the page install its service worker, in a separate context; otherwise tests would get files of earlier tests. */
  serviceWorker?: boolean
  /** The port of apps on this machine, to which the frames of the page may send requests. */
  appsPort?: number
  /** Uses a separate browser context with an empty cache: to control the clock, or to check what is loaded. */
  ownContext?: boolean
}

/** Launched by the first test file of this process and shared by all of them; ends with the process. */
let browser: Promise<Browser> | undefined

/** Idle contexts by kind: the options that are fixed when a context is created. Stored data is cleared before reuse. */
const unused = new Map<string, BrowserContext[]>()

/** Data about a context that can be reused. */
interface Shared {
  kind: string
  /** A page that stays open, which keeps the window open. */
  blank: Page
}
const sharedOf = new WeakMap<BrowserContext, Shared>()

/** Violations by page: uncaught errors, resources that the CSP blocked, requests to other origins. */
const faultsOf = new WeakMap<Page, string[]>()

export interface Visitor {
  open(url: string, options?: PageOptions): Promise<Page>
  /** The folder of the built page, to pass to the server. */
  webRoot(): string
}

/** A suite in a real browser; skipped with a clear message if there is no browser. */
export function describeInBrowser(name: string, suite: (visitor: Visitor) => void): void {
  if (executablePath === undefined) {
    describe.skip(`${name} (no Chromium here: install it, or name it in CHROMIUM_PATH)`, () => {
      suite({ open: () => Promise.reject(new Error('no browser')), webRoot: () => '' })
    })
    return
  }
  // Browsers are slow on a busy machine, and no test measures time.
  describe(name, { timeout: 180_000 }, () => {
    let root = ''
    beforeAll(async () => {
      root = await builtPage()
    })
    suite({
      webRoot: () => root,
      async open(url, options = {}) {
        browser ??= chromium.launch({ executablePath, args: flags })
        const context = await enter(await browser, options)
        if (options.withBuiltPage === true) await givePage(context, root)
        const page = await context.newPage()
        const { theme = 'light', remote = false } = options
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
        const address = new URL(url)
        if (remote) address.hostname = REMOTE_HOST
        await forget(page, address.origin)
        watch(page, address.origin, options.appsPort)
        await page.goto(address.href)
        return page
      },
    })
  })
}

/**
 * The page in a browser of its own with a process for each site, as browsers of people have it: for what may end the process
 * of a frame. The caller closes the browser.
 */
export async function openInOwnBrowser(url: string): Promise<Page> {
  const own = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-gpu', '--site-per-process'],
  })
  const page = await own.newPage({ locale: 'en-US' })
  page.setDefaultTimeout(45_000)
  await page.goto(url)
  return page
}

/** Returns a context: an idle one of the right kind, or a new one. */
async function enter(browser: Browser, options: PageOptions): Promise<BrowserContext> {
  const { language = 'en-US', phone = false } = options
  const isShared = !options.ownContext && !options.withBuiltPage && !options.serviceWorker
  const kind = `${language} ${phone}`
  const left = isShared ? unused.get(kind)?.pop() : undefined
  if (left !== undefined) return left
  const context = await browser.newContext({
    viewport: phone ? { width: 390, height: 760 } : { width: 1280, height: 800 },
    hasTouch: phone,
    isMobile: phone,
    locale: language,
    serviceWorkers: options.serviceWorker === true ? 'allow' : 'block',
  })
  context.setDefaultTimeout(45_000)
  if (isShared) sharedOf.set(context, { kind, blank: await context.newPage() })
  return context
}

/** Clears what an earlier test stored in a shared context. */
async function forget(page: Page, origin: string): Promise<void> {
  if (!sharedOf.has(page.context())) return
  await page.context().clearCookies()
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
}

/**
 * Throttles the page's CPU to `rate` times slower than this machine while `work` runs. The browser throttles by busy
 * waiting, so put only what must be observed on a slow machine into `work`.
 */
export async function onSlowCpu(
  page: Page,
  rate: number,
  work: () => Promise<void>,
): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  await work()
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await session.detach()
}

/** Serves every request except those that only the server answers from the built page, as a server would. */
async function givePage(context: BrowserContext, root: string): Promise<void> {
  await context.route(
    ({ pathname }) => !pathname.startsWith('/api/') && pathname !== '/readyz',
    async (route) => {
      const { pathname } = new URL(route.request().url())
      // The page of a link asks the server at its own address.
      if (pathname.startsWith('/a/') && route.request().resourceType() === 'fetch')
        return await route.continue()
      const file = join(root, pathname)
      const isFile = existsSync(file) && statSync(file).isFile()
      await route.fulfill({ path: isFile ? file : join(root, 'index.html') })
    },
  )
}

function watch(page: Page, origin: string, appsPort?: number): void {
  const apps = `http://localhost:${appsPort}/`
  const faults: string[] = []
  faultsOf.set(page, faults)
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`))
  page.on('console', (message) => {
    // Of `eval`, the message only says which directive forbids it.
    if (/content security policy|'script-src' was not/i.test(message.text()))
      faults.push(message.text())
  })
  page.on('request', (request) => {
    const url = request.url()
    if (appsPort !== undefined && url.startsWith(apps)) return
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) faults.push(`request to ${url}`)
  })
}

/** Asserts that the page caused no violations, then closes it; a shared context becomes idle again. */
export async function leave(page: Page): Promise<void> {
  expect(faultsOf.get(page) ?? []).toEqual([])
  const context = page.context()
  // A handler that is still processing a request would fail when its page closes.
  for (const each of context.pages()) await each.unrouteAll({ behavior: 'ignoreErrors' })
  const shared = sharedOf.get(context)
  if (shared === undefined) return context.close()
  for (const each of context.pages()) if (each !== shared.blank) await each.close()
  unused.set(shared.kind, [...(unused.get(shared.kind) ?? []), context])
}

/** A tooltip may be outside every landmark: it describes its control, wherever it is in the document. */
const EXEMPT_TOOLTIPS =
  ";axe.configure({ rules: [{ id: 'region', selector: 'body *:not([role=tooltip], [role=tooltip] *)' }] })"

let axeText: string | undefined
const axeSource = (): string =>
  (axeText ??=
    readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8') +
    EXEMPT_TOOLTIPS)

/** Of all rules, only these depend on colours. */
const COLOUR_RULES = {
  normal: ['color-contrast', 'link-in-text-block'],
  more: ['color-contrast-enhanced'],
}

/** Asserts that axe finds no violations; `colours` checks only those, with `more` for enhanced (AAA) text contrast. */
export async function expectAccessible(
  page: Page,
  { colours }: { colours?: keyof typeof COLOUR_RULES } = {},
): Promise<void> {
  // Injected once per document and limited to violations, which makes a check much cheaper.
  if (await page.evaluate<boolean>('!("axe" in window)')) await page.evaluate(axeSource())
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(colours === undefined ? {} : { runOnly: COLOUR_RULES[colours] }),
  }
  const violations = async (): Promise<string[]> => {
    const found = await page.evaluate<Pick<axe.AxeResults, 'violations'>>(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
    )
    return found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`,
    )
  }
  // A change of theme passes through intermediate colours; a real violation is still there after any of them.
  await expect.poll(violations, { interval: 500 }).toEqual([])
}

/** Navigates to another view in the page, as a link does, without a reload. Tabs of one view share its heading. */
export async function visit(page: Page, path: string): Promise<void> {
  const view = (pathname: string) => pathname.split('/')[1]
  const stays = view(new URL(page.url()).pathname) === view(path)
  await page.evaluate(`(() => {
    if (!${stays}) document.querySelector('h1')?.setAttribute('data-before', '')
    history.pushState(null, '', ${JSON.stringify(path)})
  })()`)
  await page.locator('h1:not([data-before])').waitFor()
}

/** Asserts that the document fits the window in both directions: only regions within the page scroll. */
export async function expectNoScrolling(page: Page): Promise<void> {
  const overflow = (): Promise<number[]> =>
    page.evaluate(`(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
      [scrollWidth - clientWidth, scrollHeight - clientHeight])(document.documentElement)`)
  await expect.poll(overflow).toEqual([0, 0])
}

/** Signs in on the page that asks for it, with the password of `register`. */
export async function signIn(page: Page, username: string): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill('a good password')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

export const composer = (page: Page) => page.locator('#composer')

/** Types a message and sends it: with the Enter key, or on a phone, where this key makes a new line, with the button. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  if (await page.evaluate<boolean>("matchMedia('(pointer: coarse)').matches"))
    await page.locator('form:has(#composer) button[type=submit]').tap()
  else await composer(page).press('Enter')
}
