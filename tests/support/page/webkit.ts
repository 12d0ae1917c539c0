// WebKit through the WebDriver protocol of WebKitGTK's driver.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { eventually } from '../eventually.ts'
import { freePort } from '../server/free-port.ts'
import { createReader, end, firstThatExists, type Reader, startAndRead } from './readers.ts'

const DRIVER = '/usr/bin/WebKitWebDriver'
const SCREEN = '/usr/bin/Xvfb'

/** The browser that comes with the library, in a folder that is named after the machine's architecture. */
const browser = firstThatExists(
  (existsSync('/usr/lib') ? readdirSync('/usr/lib') : []).map(
    (name) => `/usr/lib/${name}/webkit2gtk-4.1/MiniBrowser`,
  ),
)

const packageOf = (): string | undefined => {
  if (browser === undefined || firstThatExists([DRIVER]) === undefined) return 'webkit2gtk-driver'
  return firstThatExists([SCREEN]) === undefined ? 'xvfb' : undefined
}

/** The missing Debian package; undefined if WebKit can be started. */
export const missingForWebKit = packageOf()

/** Starts WebKit on a virtual screen, because it has no headless mode. */
export async function startWebKit(): Promise<Reader> {
  const port = await freePort()
  const screen = await startAndRead(
    SCREEN,
    ['-displayfd', '1', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'],
    /^(\d+)\n/,
  )
  const driver = spawn(DRIVER, [`--port=${port}`], {
    stdio: 'ignore',
    env: { ...process.env, DISPLAY: `:${screen.found}` },
  })
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const { value } = (await response.json()) as { value: unknown } // every response of the protocol is one
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`)
    return value
  }
  await eventually(() => ask('GET', '/status'))
  const options = { binary: browser, args: ['--automation'] }
  const { sessionId } = (await ask('POST', '/session', {
    capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
  })) as { sessionId: string } // as the protocol says
  const session = `/session/${sessionId}`
  return createReader({
    open: async (url) => void (await ask('POST', `${session}/url`, { url })),
    reload: async () => void (await ask('POST', `${session}/refresh`, {})),
    evaluateText: async (expression) =>
      String(
        await ask('POST', `${session}/execute/sync`, { script: `return ${expression}`, args: [] }),
      ),
    perform: (actions) => ask('POST', `${session}/actions`, { actions }),
    faults: () => [],
    async close() {
      await ask('DELETE', session).catch(() => undefined)
      await end(driver)
      await end(screen.child)
    },
  })
}
