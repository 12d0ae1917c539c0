// Files in the data folder that speed up starts: the compiled standard library, and the interpreter's machine code.
import { createHash, type Hash, randomUUID } from 'node:crypto'
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
import { cpus, setPriority } from 'node:os'
import { join } from 'node:path'
import { startInterpreter } from './interpreter.ts'
import { type InterpreterFiles, type Launcher, V8_FLAGS } from './launch.ts'

/** Open files for one start; the caller closes them when the start is over. */
export interface QuickStart {
  /** Python's compiled standard library; null uses Pyodide's sources. */
  readonly library: FileHandle | null
  /** Machine code of the interpreter; null compiles it. Only together with the library. */
  readonly code: FileHandle | null
  close(): Promise<void>
}

/** Compiled files with which interpreters start faster. */
export interface CompiledFiles {
  /** Opens the intact files. Never rejects. */
  open(): Promise<QuickStart>
  /** Removes all files, because some do not work. After several times, this process stops using them. Never rejects. */
  discard(): Promise<void>
  /** Builds missing files at low priority. Never rejects. */
  fill(): Promise<void>
  /** Stops building; resolves when the build process has ended. */
  close(): Promise<void>
}

/** In build order: the second is built with the first. */
const KINDS = ['library', 'code'] as const
type Kind = (typeof KINDS)[number]

const LOW_PRIORITY = 10
/** Age after which an unknown file is removed: longer than any build, because another process may share the folder. */
const ABANDONED_MS = 10 * 60_000
/** How often one process retries builds that fail and files that do not work. */
const MAX_FAILURES = 3
const DIGEST_CHARACTERS = 32

/**
 * A hash of everything the files depend on; files built from anything else are never read. Machine
 * code depends on the processor too.
 */
async function storeKey(files: InterpreterFiles): Promise<string> {
  const hash = createHash('sha256').update(process.version).update(process.arch)
  hash.update(cpus()[0]?.model ?? '').update(V8_FLAGS.join(' '))
  for (const path of [
    files.child,
    ...files.childModules,
    ...files.pythonModules,
    ...files.builders,
  ])
    hash.update(await readFile(path))
  hash.update(await readFile(join(files.pyodide, 'package.json')))
  return hash.digest('hex').slice(0, 16)
}

/** The digest that is part of a file's name. */
async function digestOf(file: FileHandle): Promise<string> {
  const hash: Hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(256 * 1024)
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return hash.digest('hex').slice(0, DIGEST_CHARACTERS)
    hash.update(buffer.subarray(0, bytesRead))
    position += bytesRead
  }
}

/**
 * The store in `folder`, created when needed. A start with both files takes a sixth of the processor time of a plain one. Each
 * file is named after its content and is read once per process, so that a damaged one is never used.
 */
export function createCompiledFiles(options: {
  folder: string
  files: InterpreterFiles
  launcher: Launcher
  log(message: string, details: object): void
}): CompiledFiles {
  const { folder } = options
  let closed = false
  let stop: () => void = () => {}
  let filling: Promise<void> | null = null
  let failedBuilds = 0
  let discards = 0
  /** Whether a file is intact, by its name, size and time. */
  const checked = new Map<string, Promise<boolean>>()
  const key = storeKey(options.files)
  key.catch(() => {})
  const prefix = async (): Promise<string> => `python-${await key}-`
  const namesIn = (): Promise<string[]> => readdir(folder).catch(() => [])
  const remove = (name: string): Promise<void> => rm(join(folder, name), { force: true })

  /** The files of a kind, in the order that every process tries them; several if two were built at the same time. */
  async function namesOf(kind: Kind): Promise<string[]> {
    const start = await prefix()
    const names = await namesIn()
    return names.filter((name) => name.startsWith(start) && name.endsWith(`.${kind}`)).sort()
  }

  async function isIntact(name: string, file: FileHandle): Promise<boolean> {
    const { size, mtimeMs } = await file.stat()
    const version = `${name} ${size} ${mtimeMs}`
    const known =
      checked.get(version) ??
      digestOf(file).then((digest) => name.endsWith(`-${digest}${name.slice(name.indexOf('.'))}`))
    checked.set(version, known)
    return await known
  }

  /** The first intact file of a kind; removes damaged ones. */
  async function openFirst(kind: Kind): Promise<FileHandle | null> {
    for (const name of await namesOf(kind).catch(() => [])) {
      const file = await open(join(folder, name), 'r').catch(() => null)
      if (file === null) continue
      if (await isIntact(name, file).catch(() => false)) return file
      await file.close()
      options.log('a damaged file of compiled Python is removed', { name })
      await remove(name).catch(() => {})
    }
    return null
  }

  /** Removes files of other versions, duplicates of a kind, and incomplete files left by a crash. */
  async function sweep(): Promise<void> {
    const current = new Set((await Promise.all(KINDS.map(namesOf))).map(([first]) => first))
    for (const name of await namesIn()) {
      if (!name.startsWith('python-') || current.has(name)) continue
      const found = await stat(join(folder, name)).catch(() => null)
      if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS) await remove(name)
    }
  }

  /** Runs a process that writes a file; the file gets its final name once it is complete. */
  async function build(kind: Kind, library: FileHandle | null): Promise<void> {
    const start = await prefix()
    const path = join(folder, `${start}${randomUUID()}.part`)
    const part = await open(path, 'wx+', 0o600)
    try {
      const builder = startInterpreter({
        launcher: options.launcher,
        mode: kind,
        library: library?.fd,
        output: part.fd,
        onStarted: (pid) => setPriority(pid, LOW_PRIORITY),
      })
      stop = builder.kill
      if (closed) builder.kill()
      await builder.ended
      await builder.ready
      await part.sync()
      await rename(path, join(folder, `${start}${await digestOf(part)}.${kind}`))
    } finally {
      stop = () => {}
      await part.close()
      await rm(path, { force: true })
    }
  }

  async function buildMissing(): Promise<void> {
    const missing: Kind[] = []
    for (const kind of KINDS) if ((await namesOf(kind)).length === 0) missing.push(kind)
    if (missing.length === 0) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
    await sweep()
    for (const kind of missing) {
      if (closed) return
      const library = kind === 'library' ? null : await openFirst('library')
      await build(kind, library).finally(() => library?.close())
    }
  }

  return {
    async open() {
      const library = discards < MAX_FAILURES ? await openFirst('library') : null
      const code = library === null ? null : await openFirst('code')
      return {
        library,
        code,
        close: async () => {
          await Promise.all([library?.close(), code?.close()])
        },
      }
    },
    async discard() {
      discards += 1
      const names = await Promise.all(KINDS.map(namesOf)).catch(() => [])
      await Promise.allSettled(names.flat().map(remove))
    },
    async fill() {
      if (closed || failedBuilds >= MAX_FAILURES || discards >= MAX_FAILURES) return
      filling ??= buildMissing()
        .catch((error: unknown) => {
          failedBuilds += 1
          if (!closed)
            options.log('Python could not be compiled for later starts; it starts more slowly', {
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
