// Files in the data folder that speed up starts: the compiled standard library, and single-use memory images.
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
import { startInterpreter } from './interpreter.ts'
import type { InterpreterFiles, InterpreterMode, Launcher } from './launch.ts'

/** Open files for one start; the caller closes them when the start is over. */
export interface QuickStart {
  /** Python's compiled standard library; null uses Pyodide's sources. */
  readonly library: FileHandle | null
  /** A memory image of a started interpreter, for this start only; null when there is none. */
  readonly image: FileHandle | null
  close(): Promise<void>
}

/** Memory images from which interpreters start faster. */
export interface PythonSnapshots {
  /** Takes the best files available out of the store; an image is never used twice. Never rejects. */
  take(): Promise<QuickStart>
  /** Removes all files, because some do not work. Never rejects. */
  discard(): Promise<void>
  /** Builds missing files at low priority. Never rejects. */
  fill(): Promise<void>
  /** Stops building; resolves when the build process has ended. */
  close(): Promise<void>
}

const LIBRARY = '.library'
const IMAGE = '.image'
/** This many calls in quick succession start from an image. */
const STORED_IMAGES = 4
const LOW_PRIORITY = 10
/** Age after which an unknown file is removed: longer than any build, because another process may share the folder. */
const ABANDONED_MS = 10 * 60_000

/** A hash of everything the stored files depend on; files built from anything else are never read. */
async function storeKey(files: InterpreterFiles): Promise<string> {
  const hash = createHash('sha256').update(process.version).update(process.arch)
  for (const path of [files.child, ...files.childModules, ...files.pythonModules, files.compiler])
    hash.update(await readFile(path))
  hash.update(await readFile(join(files.pyodide, 'package.json')))
  return hash.digest('hex').slice(0, 16)
}

/**
 * The store in `folder`, created when needed. A start with the compiled library takes a third of the time of a plain one, a
 * start from an image a quarter. An image contains the hash seed of its build, so it is removed from the folder when it is
 * taken: no two programs share one.
 */
export function createPythonSnapshots(options: {
  folder: string
  /** Images to keep in store. */
  images?: number | undefined
  files: InterpreterFiles
  launcher: Launcher
  log(message: string, details: object): void
}): PythonSnapshots {
  const { folder, images: wanted = STORED_IMAGES } = options
  let closed = false
  let stop: () => void = () => {}
  let filling: Promise<void> | null = null
  const key = storeKey(options.files)
  key.catch(() => {})
  const prefix = async (): Promise<string> => `python-${await key}-`
  const namesIn = (): Promise<string[]> => readdir(folder).catch(() => [])
  const remove = (name: string): Promise<void> => rm(join(folder, name), { force: true })

  /** The library that all processes use, even if two were built at the same time; images are named after their library. */
  async function findLibrary(): Promise<{ name: string; images: string[] } | null> {
    const start = await prefix()
    const names = (await namesIn()).filter((name) => name.startsWith(start)).sort()
    const name = names.find((each) => each.endsWith(LIBRARY))
    if (name === undefined) return null
    const stem = name.slice(0, -LIBRARY.length)
    return {
      name,
      images: names.filter((each) => each.startsWith(`${stem}-`) && each.endsWith(IMAGE)),
    }
  }

  /** Removes files of other versions and libraries, and incomplete ones from a crash. */
  async function sweep(): Promise<void> {
    const current = await findLibrary()
    const currentFiles = new Set(current === null ? [] : [current.name, ...current.images])
    for (const name of await namesIn()) {
      if (!name.startsWith('python-') || currentFiles.has(name)) continue
      const found = await stat(join(folder, name)).catch(() => null)
      if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS) await remove(name)
    }
  }

  /** Runs a process that writes `names`; each file gets its final name once it is complete. */
  async function build(
    mode: Extract<InterpreterMode, 'library' | 'images'>,
    names: readonly string[],
    library: FileHandle | null,
  ): Promise<void> {
    const paths = names.map((name) => join(folder, name))
    const parts = await Promise.all(paths.map((path) => open(`${path}.part`, 'w', 0o600)))
    const renamed: Promise<void>[] = []
    try {
      const builder = startInterpreter({
        launcher: options.launcher,
        mode,
        library: library?.fd,
        outputs: parts.map(({ fd }) => fd),
        onStarted: (pid) => setPriority(pid, LOW_PRIORITY),
        onWritten: (index) => {
          const path = paths[index]
          if (path !== undefined) renamed.push(rename(`${path}.part`, path))
        },
      })
      stop = builder.kill
      if (closed) builder.kill()
      await builder.ended
      await Promise.all(renamed)
      await builder.ready
    } finally {
      stop = () => {}
      await Promise.allSettled(renamed)
      await Promise.all(parts.map((part) => part.close()))
      await Promise.all(paths.map((path) => rm(`${path}.part`, { force: true })))
    }
  }

  async function buildMissing(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
    await sweep()
    if ((await findLibrary()) === null) {
      await build('library', [`${await prefix()}${randomUUID().slice(0, 8)}${LIBRARY}`], null)
    }
    for (;;) {
      const found = await findLibrary()
      const missing = found === null ? 0 : wanted - found.images.length
      if (closed || found === null || missing <= 0) return
      const stem = found.name.slice(0, -LIBRARY.length)
      const library = await open(join(folder, found.name), 'r')
      try {
        const names = Array.from({ length: missing }, () => `${stem}-${randomUUID()}${IMAGE}`)
        await build('images', names, library)
      } finally {
        await library.close()
      }
    }
  }

  /** Takes an image out of the store; null when another call was faster. */
  async function openImage(name: string): Promise<FileHandle | null> {
    const taken = join(folder, `${name}.${randomUUID()}.taken`)
    try {
      // Of two concurrent calls only one can rename it; the other tries the next image.
      await rename(join(folder, name), taken)
    } catch {
      return null
    }
    const image = await open(taken, 'r').catch(() => null)
    await rm(taken, { force: true }).catch(() => {})
    return image
  }

  async function takeBest(): Promise<Pick<QuickStart, 'library' | 'image'>> {
    const found = await findLibrary().catch(() => null)
    const library = found && (await open(join(folder, found.name), 'r').catch(() => null))
    if (found === null || library === null) return { library: null, image: null }
    for (const name of found.images) {
      const image = await openImage(name)
      if (image !== null) return { library, image }
    }
    return { library, image: null }
  }

  return {
    async take() {
      const { library, image } = await takeBest()
      return {
        library,
        image,
        close: async () => {
          await Promise.all([library?.close(), image?.close()])
        },
      }
    },
    async discard() {
      const start = await prefix().catch(() => 'python-')
      const names = (await namesIn()).filter(
        (name) => name.startsWith(start) && /\.(library|image)$/.test(name),
      )
      await Promise.allSettled(names.map(remove))
    },
    async fill() {
      if (closed) return
      filling ??= buildMissing()
        .catch((error: unknown) => {
          if (!closed)
            options.log('no memory image of Python could be built; it starts more slowly', {
              error,
            })
        })
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
