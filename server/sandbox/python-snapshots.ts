// Memory images of freshly started interpreters, kept beside the data: what makes a start quick. Renewed after each use.
import { createHash, randomUUID } from 'node:crypto'
import {
  chmod,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { startInterpreter } from './python-interpreter.ts'
import type { InterpreterFiles, Launcher } from './python-launch.ts'

export interface PythonSnapshots {
  /**
   * An open image: one that nobody used before, else one that the last starts did not use, else null. The caller closes
   * it, and asks once for every start, so that "the last starts" can be told.
   */
  take(): Promise<FileHandle | null>
  /**
   * `first` makes an image at full speed when there is none at all, since calls wait for it; `all` makes them until enough
   * are in store, used or not; `renew` until enough unused ones are, which takes the place of used ones. The latter two
   * make one after another at low priority. Never rejects.
   */
  fill(goal: 'first' | 'all' | 'renew'): Promise<void>
  /** Stops a making that is under way; ends when its process is gone. */
  close(): Promise<void>
}

const FRESH = '.fresh'
const USED = '.used'
/** Images kept; a used one gives way to each new one. As many starts in a row never share one. */
const IN_STORE = 4
const LOW_PRIORITY = 10
/** Longer than any making takes: another instance may share the folder. */
const ABANDONED_MS = 5 * 60_000

/** What an image depends on; one made of anything else is never read. */
async function imageKey(files: InterpreterFiles): Promise<string> {
  const hash = createHash('sha256').update(process.version).update(process.arch)
  for (const path of [files.child, files.runner, join(files.pyodide, 'package.json')])
    hash.update(await readFile(path))
  return hash.digest('hex').slice(0, 16)
}

/**
 * The images in `folder`, which is made when needed. A start from an image takes a quarter of a plain one. An image
 * holds the hash seed of its making, so used ones are replaced as soon as nobody is in a hurry. While calls come one after
 * another, one may be used again: the one whose last use is longest ago, and not before as many other starts.
 */
export function createPythonSnapshots(options: {
  folder: string
  files: InterpreterFiles
  launcher: Launcher
  log(message: string, details: object): void
}): PythonSnapshots {
  const { folder } = options
  let closed = false
  let stop: () => void = () => {}
  let making: Promise<void> | null = null
  let filling: Promise<void> | null = null
  /** At which start an image was last used, by name. */
  const lastUse = new Map<string, number>()
  let starts = 0
  const key = imageKey(options.files)
  key.catch(() => {})

  /** Names of the images that fit, without those of another version. */
  async function stored(): Promise<{ fresh: string[]; used: string[] }> {
    const prefix = `python-${await key}-`
    const names = await readdir(folder).catch(() => [])
    const fitting = names.filter((name) => name.startsWith(prefix))
    return {
      fresh: fitting.filter((name) => name.endsWith(FRESH)),
      used: fitting
        .filter((name) => name.endsWith(USED))
        .sort((one, other) => (lastUse.get(one) ?? 0) - (lastUse.get(other) ?? 0)),
    }
  }

  const remove = async (name: string): Promise<void> => {
    lastUse.delete(name)
    await rm(join(folder, name), { force: true })
  }

  /** Images of another version, and what a crash left half made. */
  async function sweep(): Promise<void> {
    const current = `python-${await key}-`
    for (const name of await readdir(folder).catch(() => [])) {
      if (!name.startsWith('python-')) continue
      const whole = name.startsWith(current) && /\.(fresh|used)$/.test(name)
      const { mtimeMs } = await stat(join(folder, name))
      if (!whole && Date.now() - mtimeMs > ABANDONED_MS) await remove(name)
    }
  }

  async function makeOne(priority: 'normal' | 'low'): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
    const path = join(folder, `python-${await key}-${randomUUID()}`)
    const image = await open(`${path}.part`, 'w', 0o600)
    try {
      const interpreter = startInterpreter({
        launcher: options.launcher,
        mode: 'snapshot',
        snapshot: image.fd,
        onStarted: (pid) => priority === 'low' && setPriority(pid, LOW_PRIORITY),
      })
      stop = interpreter.kill
      await interpreter.ended
      await interpreter.ready
      await rename(`${path}.part`, `${path}${FRESH}`)
    } finally {
      stop = () => {}
      await image.close()
      await rm(`${path}.part`, { force: true })
    }
  }

  const make = (priority: 'normal' | 'low'): Promise<void> => {
    making ??= makeOne(priority).finally(() => {
      making = null
    })
    return making
  }

  async function fillFirst(): Promise<void> {
    const { fresh, used } = await stored()
    if (!closed && fresh.length + used.length === 0) await make('normal')
  }

  async function fillUp(goal: 'all' | 'renew'): Promise<void> {
    await sweep()
    for (;;) {
      const { fresh, used } = await stored()
      const surplus = fresh.length + used.length - IN_STORE
      for (const name of used.slice(0, Math.max(0, surplus))) await remove(name)
      const enough = goal === 'all' ? fresh.length + used.length : fresh.length
      if (closed || enough >= IN_STORE) return
      await make('low')
    }
  }

  const tellFault = (error: unknown): void => {
    if (!closed) options.log('no memory image of Python; it starts plainly', { error })
  }

  async function openImage(name: string, becomes: string): Promise<FileHandle | null> {
    try {
      // Two takers of one fresh image: the second finds it renamed and looks for another.
      if (becomes !== name) await rename(join(folder, name), join(folder, becomes))
      const image = await open(join(folder, becomes), 'r')
      lastUse.set(becomes, starts)
      return image
    } catch {
      return null
    }
  }

  return {
    async take() {
      starts += 1
      const { fresh, used } = await stored().catch(() => ({ fresh: [], used: [] }))
      for (const name of fresh) {
        const image = await openImage(name, `${name.slice(0, -FRESH.length)}${USED}`)
        if (image !== null) return image
      }
      for (const name of used) {
        const before = lastUse.get(name)
        if (before !== undefined && starts - before < IN_STORE) continue
        const image = await openImage(name, name)
        if (image !== null) return image
      }
      return null
    },
    async fill(goal) {
      if (goal === 'first') return await fillFirst().catch(tellFault)
      filling ??= fillUp(goal)
        .catch(tellFault)
        .finally(() => {
          filling = null
        })
      return await filling
    },
    async close() {
      closed = true
      stop()
      await filling
    },
  }
}
