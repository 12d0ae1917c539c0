// Firefox and WebKit: the few actions that a test performs in both, by W3C standards.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

/** One window of one browser. */
export interface Reader {
  open(url: string): Promise<void>
  reload(): Promise<void>
  /** The value of an expression in the page, which must be JSON. */
  evaluate(expression: string): Promise<unknown>
  /** Clicks the middle of the first element that matches the CSS selector. */
  click(selector: string): Promise<void>
  /** Types into the element that has the focus. */
  type(text: string): Promise<void>
  /** Presses a key, or keys together such as `Control+k`. */
  press(keys: string): Promise<void>
  /** Uncaught errors so far, where the browser reports them. */
  faults(): readonly string[]
  close(): Promise<void>
}

/** The operations that a browser's protocol must support. */
export interface Commands extends Pick<Reader, 'open' | 'reload' | 'faults' | 'close'> {
  /** Evaluates an expression, given as text. */
  evaluateText(expression: string): Promise<string>
  /** Performs actions of WebDriver, which both protocols write in the same way. */
  perform(sources: readonly object[]): Promise<unknown>
}

/** Keys without a character, as WebDriver writes them. */
const KEYS: Readonly<Record<string, string>> = {
  Control: '\uE009',
  Enter: '\uE007',
  Escape: '\uE00C',
}

export function createReader(commands: Commands): Reader {
  const evaluate = async (expression: string): Promise<unknown> =>
    JSON.parse(await commands.evaluateText(`JSON.stringify((${expression}) ?? null)`))
  const key = (actions: object[]) => commands.perform([{ type: 'key', id: 'keyboard', actions }])
  const stroke = (value: string) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]
  return {
    open: commands.open,
    reload: commands.reload,
    faults: commands.faults,
    close: commands.close,
    evaluate,
    async click(selector) {
      const box = `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect()`
      const place = (await evaluate(
        `(({ x, y, width, height }) => ({ x: Math.round(x + width / 2), y: Math.round(y + height / 2) }))(${box})`,
      )) as { x: number; y: number } // as the expression says
      const actions = [
        { type: 'pointerMove', ...place },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ]
      await commands.perform([{ type: 'pointer', id: 'mouse', actions }])
    },
    type: async (text) => void (await key([...text].flatMap(stroke))),
    async press(keys) {
      const values = keys.split('+').map((name) => KEYS[name] ?? name)
      await key([
        ...values.map((value) => ({ type: 'keyDown', value })),
        ...values.toReversed().map((value) => ({ type: 'keyUp', value })),
      ])
    },
  }
}

export const firstThatExists = (paths: readonly string[]): string | undefined =>
  paths.find((path) => existsSync(path))

/** Starts a program and waits for the first output that matches; returns its first group. */
export async function startAndRead(
  program: string,
  options: readonly string[],
  pattern: RegExp,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<{ child: ChildProcess; found: string }> {
  const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'pipe'], env: environment })
  const found = await new Promise<string>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer): void => {
      output += chunk
      const [, group] = pattern.exec(output) ?? []
      if (group !== undefined) resolve(group)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`${program} ended: ${output}`)))
  })
  return { child, found }
}

/** Ends a program and waits until it is gone. */
export function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill()
  })
}
