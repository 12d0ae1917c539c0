// Files in the data folder that speed up starts: the compiled standard library, a memory image of a started interpreter, and the
// interpreter's machine code.
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
  /** The memory of an interpreter that was started with this library; null starts Python from scratch. */
  readonly image: FileHandle | null
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

/** In build order: each is built with those before it. */
const KINDS = ['library', 'image', 'code'] as const
type Kind = (typeof KINDS)[number]

/** An open file of the store. */
interface OpenFile {
  name: string
  file: FileHandle
}

const LOW_PRIORITY = 10
/** Age after which an unknown file is removed: longer than any build, because another process may share the folder. */
const ABANDONED_MS = 10 * 60_000
/** How often one process retries builds that fail and files that do not work. */
const MAX_FAILURES = 3
const DIGEST_CHARACTERS = 32

/**
 * A hash of everything the files depend on; files built from anything else are never read. Machine code depends on the
 * processor too, and an image on the time zone.
 */
async function storeKey(files: InterpreterFiles): Promise<string> {
  const hash = createHash('sha256').update(process.version).update(process.arch)
  hash
    .update(cpus()[0]?.model ?? '')
    .update(V8_FLAGS.join(' '))
    .update(process.env.TZ ?? 'UTC')
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

/** The digest in a file's name. */
const digestIn = (name: string): string =>
  name.slice(0, name.indexOf('.')).slice(-DIGEST_CHARACTERS)

/** The digest of a file's content. */
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

/** Where compiled files are kept, and what they are compiled from. */
interface CompiledFilesOptions {
  folder: string
  files: InterpreterFiles
  launcher: Launcher
  log(message: string, details: object): void
}

interface CompiledStore extends CompiledFilesOptions {
  key: Promise<string>
  /** Whether a file is intact, by its name, size and time. */
  checked: Map<string, Promise<boolean>>
  closed: boolean
  /** Kills the process that builds a file. */
  stop(): void
}

/**
 * The store in `folder`, created when needed. Each file is named after its content and is read once per process, so that a
 * damaged one is never used.
 */
export function createCompiledFiles(options: CompiledFilesOptions): CompiledFiles {
  let filling: Promise<void> | null = null
  let failedBuilds = 0
  let discards = 0
  const store: CompiledStore = {
    ...options,
    key: storeKey(options.files),
    checked: new Map(),
    closed: false,
    stop: () => {},
  }
  store.key.catch(() => {})

  return {
    async open() {
      if (discards < MAX_FAILURES) return await openAll(store)
      return { library: null, image: null, code: null, close: async () => {} }
    },
    async discard() {
      discards += 1
      const names = await Promise.all(KINDS.map((kind) => namesOf(store, kind))).catch(() => [])
      await Promise.allSettled(names.flat().map((name) => remove(store, name)))
    },
    async fill() {
      if (store.closed || failedBuilds >= MAX_FAILURES || discards >= MAX_FAILURES) return
      filling ??= buildMissing(store)
        .catch((error: unknown) => {
          failedBuilds += 1
          if (!store.closed)
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
      store.closed = true
      store.stop()
      await filling
    },
  }
}

const prefix = async ({ key }: CompiledStore): Promise<string> => `python-${await key}-`

const namesIn = ({ folder }: CompiledStore): Promise<string[]> => readdir(folder).catch(() => [])

const remove = ({ folder }: CompiledStore, name: string): Promise<void> =>
  rm(join(folder, name), { force: true })

/**
 * The files of a kind, in the order that every process tries them; several if two were built at the same time.
 * @param library name of the library that an image belongs to: its memory refers to positions in it.
 */
async function namesOf(store: CompiledStore, kind: Kind, library?: string): Promise<string[]> {
  const start = (await prefix(store)) + (library === undefined ? '' : `${digestIn(library)}-`)
  const names = await namesIn(store)
  return names.filter((name) => name.startsWith(start) && name.endsWith(`.${kind}`)).sort()
}

async function isIntact(
  { checked }: CompiledStore,
  name: string,
  file: FileHandle,
): Promise<boolean> {
  const { size, mtimeMs } = await file.stat()
  const version = `${name} ${size} ${mtimeMs}`
  const known = checked.get(version) ?? digestOf(file).then((digest) => digest === digestIn(name))
  checked.set(version, known)
  return await known
}

/** The first intact file of a kind; removes damaged ones. */
async function openFirst(
  store: CompiledStore,
  kind: Kind,
  library?: string,
): Promise<OpenFile | null> {
  const { folder, log } = store
  for (const name of await namesOf(store, kind, library).catch(() => [])) {
    const file = await open(join(folder, name), 'r').catch(() => null)
    if (file === null) continue
    if (await isIntact(store, name, file).catch(() => false)) return { name, file }
    await file.close()
    log('a damaged file of compiled Python is removed', { name })
    await remove(store, name).catch(() => {})
  }
  return null
}

/** The intact files that belong together, with the name of their library. */
async function openAll(
  store: CompiledStore,
): Promise<QuickStart & { libraryName: string | undefined }> {
  const library = await openFirst(store, 'library')
  const image = library === null ? null : await openFirst(store, 'image', library.name)
  const code = library === null ? null : await openFirst(store, 'code')
  return {
    library: library?.file ?? null,
    image: image?.file ?? null,
    code: code?.file ?? null,
    libraryName: library?.name,
    close: async () => {
      await Promise.all([library, image, code].map((each) => each?.file.close()))
    },
  }
}

/** The files that starts use, by kind; undefined where one has to be built. */
async function currentNames(store: CompiledStore): Promise<Record<Kind, string | undefined>> {
  const [library] = await namesOf(store, 'library')
  const [image] = library === undefined ? [] : await namesOf(store, 'image', library)
  const [code] = await namesOf(store, 'code')
  return { library, image, code }
}

/** Removes files of other versions, duplicates of a kind, and incomplete files left by a crash. */
async function sweep(store: CompiledStore): Promise<void> {
  const { folder } = store
  const current = Object.values(await currentNames(store))
  for (const name of await namesIn(store)) {
    if (!name.startsWith('python-') || current.includes(name)) continue
    const found = await stat(join(folder, name)).catch(() => null)
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS) await remove(store, name)
  }
}

/** Runs a process that writes a file; the file gets its final name once it is complete. */
async function build(
  store: CompiledStore,
  kind: Kind,
  from: Awaited<ReturnType<typeof openAll>>,
): Promise<void> {
  const { folder, launcher } = store
  const { libraryName } = from
  if (kind !== 'library' && libraryName === undefined)
    throw new Error('the compiled library has disappeared')
  const start = await prefix(store)
  const owner = kind === 'image' && libraryName !== undefined ? `${digestIn(libraryName)}-` : ''
  const path = join(folder, `${start}${randomUUID()}.part`)
  const part = await open(path, 'wx+', 0o600)
  try {
    const builder = startInterpreter({
      launcher: launcher,
      mode: kind,
      library: from.library?.fd,
      image: from.image?.fd,
      output: part.fd,
      onStarted: (pid) => setPriority(pid, LOW_PRIORITY),
    })
    store.stop = builder.kill
    if (store.closed) builder.kill()
    await builder.ended
    await builder.ready
    await part.sync()
    await rename(path, join(folder, `${start}${owner}${await digestOf(part)}.${kind}`))
  } finally {
    store.stop = () => {}
    await part.close()
    await rm(path, { force: true })
  }
}

async function buildMissing(store: CompiledStore): Promise<void> {
  const { folder } = store
  const present = await currentNames(store)
  if (KINDS.every((kind) => present[kind] !== undefined)) return
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  await sweep(store)
  for (const kind of KINDS) {
    if (store.closed) return
    if ((await currentNames(store))[kind] !== undefined) continue
    const from = await openAll(store)
    await build(store, kind, from).finally(() => from.close())
  }
}
