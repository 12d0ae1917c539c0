// The process of one Python interpreter: starts it locked down, reads one program from stdin, sends events on fd 3.
import './lock.mjs'
import fs from 'node:fs'
import filePromises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { lockProcess } from './lock.mjs'
import { createMainModule } from './machine-code.mjs'
import { nextCommand, readAll, send, writeAll } from './pipes.mjs'

/** A virtual path: Pyodide reads the library from the descriptor that the server opened. */
const LIBRARY = '/nanoclaw/library.zip'
const MAIN_MODULE = '/pyodide.asm.wasm'
const CHUNK_BYTES = 48 * 1024

const options = JSON.parse(process.argv[2])
const { readFileSync } = fs

/** Pyodide reads its files here: the library is only a descriptor, and the main module may have machine code. */
function redirectFiles(mainModule) {
  const { readFile } = filePromises
  filePromises.readFile = async (path, ...rest) => {
    if (path === LIBRARY) return readAll(options.library)
    if (String(path).endsWith(MAIN_MODULE)) return mainModule.offer(readFileSync(path))
    return await readFile(path, ...rest)
  }
  syncBuiltinESMExports()
}

async function startPyodide() {
  const { loadPyodide } = await import(options.pyodideModule)
  const pyodide = await loadPyodide({
    jsglobals: Object.create(null),
    env: {
      HOME: '/output',
      LANG: 'C.UTF-8',
      TZ: options.timeZone,
      MPLBACKEND: 'Agg',
      PYTHONDONTWRITEBYTECODE: '1',
    },
    // Otherwise the program could read this file's path on the host.
    _sysExecutable: '/usr/bin/python3',
    stdin: () => null,
    ...(options.library === null ? {} : { stdLibURL: LIBRARY }),
    // Undocumented settings of Pyodide, which checks that the image was made by the same build of it.
    ...(options.mode === 'image' ? { _makeSnapshot: true } : {}),
    ...(options.image === null ? {} : { _loadSnapshot: readAll(options.image) }),
  })
  // The image contains the imported modules.
  if (options.image !== null) return pyodide
  pyodide.FS.mkdirTree('/lib/nanoclaw')
  for (const path of options.pythonModules)
    pyodide.FS.writeFile(`/lib/nanoclaw/${basename(path)}`, readFileSync(path))
  pyodide.runPython("import sys; sys.path.append('/lib/nanoclaw'); import nanoclaw_runner")
  return pyodide
}

const readBuilder = (name) =>
  readFileSync(
    options.builders.find((path) => basename(path) === name),
    'utf8',
  )

async function buildLibrary() {
  const pyodide = await startPyodide()
  pyodide.runPython(readBuilder('compile_library.py'))
  writeAll(options.output, pyodide.FS.readFile('/tmp/library.zip'))
}

async function buildImage() {
  const pyodide = await startPyodide()
  writeAll(options.output, pyodide.makeMemorySnapshot())
}

/** Runs what most starts and programs run; only that becomes machine code. */
async function buildMachineCode(mainModule) {
  const pyodide = await startPyodide()
  const runner = pyodide.pyimport('nanoclaw_runner')
  const code = readBuilder('sample_program.py')
  const request = { code, strictness: 'lenient', modules: null, refusedNames: ['eval'], wheels: {} }
  for (const folder of ['/workspace', '/output']) pyodide.FS.mkdirTree(folder)
  const checked = JSON.parse(runner.check(JSON.stringify(request)))
  const outcome = checked.error === undefined ? JSON.parse(runner.execute()) : checked
  if (outcome.error !== null) throw new Error(outcome.error)
  writeAll(options.output, mainModule.machineCode())
}

/** Files live outside the interpreter's memory, so they have their own limit. */
function limitFileSystem(pyodide) {
  const { MEMFS } = pyodide.FS.filesystems
  const { ErrnoError } = pyodide.FS
  const NO_SPACE = 51
  let used = 0
  const grow = (bytes) => {
    if (bytes <= 0) return
    if (used + bytes > options.maxFileBytes) throw new ErrnoError(NO_SPACE)
    used += bytes
  }
  const { node, stream } = MEMFS.ops_table.file
  const { setattr } = node
  const { write } = stream
  node.setattr = (entry, attributes) => {
    if (attributes.size !== undefined) grow(attributes.size - entry.usedBytes)
    setattr(entry, attributes)
  }
  stream.write = (open, buffer, offset, length, position, canOwn) => {
    grow(position + length - open.node.usedBytes)
    return write(open, buffer, offset, length, position, canOwn)
  }
}

/** Forwards the program's output: immediately while it is small, batched when it is large, truncated at the limit. */
function createOutput() {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const held = { stdout: '', stderr: '' }
  const left = { stdout: options.maxOutputBytes, stderr: options.maxOutputBytes }
  let sent = 0
  let sentAt = 0
  const flush = (stream) => {
    if (held[stream] === '') return
    for (let start = 0; start < held[stream].length; start += 16_384)
      send({ type: 'output', stream, text: held[stream].slice(start, start + 16_384) })
    held[stream] = ''
    sent += 1
    sentAt = performance.now()
  }
  const write = (stream) => (bytes) => {
    if (left[stream] > 0) {
      const part = bytes.subarray(0, left[stream])
      left[stream] -= part.length
      held[stream] += decoders[stream].decode(part, { stream: true })
      if (left[stream] === 0) held[stream] += '\n[output cut]\n'
      const due = sent < 50 || held[stream].length > 8192 || performance.now() - sentAt > 50
      if (due || left[stream] === 0) flush(stream)
    }
    return bytes.length
  }
  return {
    stdout: write('stdout'),
    stderr: write('stderr'),
    flush() {
      flush('stdout')
      flush('stderr')
    },
  }
}

function putFile(pyodide, path, bytes) {
  const full = path.startsWith('/skills/') ? path : `/workspace/${path}`
  pyodide.FS.mkdirTree(full.slice(0, full.lastIndexOf('/')))
  pyodide.FS.writeFile(full, bytes)
  pyodide.FS.chmod(full, 0o444)
}

/** Sends the regular files under /output, within the limits on number and size. */
function sendFiles(pyodide) {
  const { FS } = pyodide
  let bytesLeft = options.maxResultBytes
  let filesLeft = options.maxResultFiles
  let omitted = 0
  const visit = (folder, depth) => {
    for (const name of FS.readdir(folder)) {
      if (name === '.' || name === '..') continue
      const path = `${folder}/${name}`
      const { mode, size } = FS.lstat(path)
      if (FS.isDir(mode) && depth < 8) visit(path, depth + 1)
      if (!FS.isFile(mode)) continue
      if (filesLeft === 0 || size > bytesLeft) {
        omitted += 1
        continue
      }
      filesLeft -= 1
      bytesLeft -= size
      const content = FS.readFile(path)
      send({ type: 'file', path: path.slice('/output/'.length) })
      for (let offset = 0; offset < content.length; offset += CHUNK_BYTES) {
        const chunk = content.subarray(offset, offset + CHUNK_BYTES)
        send({ type: 'chunk', data: Buffer.from(chunk).toString('base64') })
      }
    }
  }
  visit('/output', 0)
  return omitted
}

/** Installs the packages that the program imports, from wheels that the operator provided. */
async function loadPackages(pyodide, wheels) {
  for (const wheel of wheels) {
    // A plain `Uint8Array`: Pyodide does not accept Node's `Buffer`.
    const bytes = new Uint8Array(readFileSync(wheel.file))
    await pyodide._api.install(bytes, basename(wheel.file), pyodide._api.sitePackages, new Map())
  }
}

/** Reads wheels inside the interpreter, where a malicious archive can do no harm. */
function describeWheels(pyodide, wheels) {
  const reader = pyodide.pyimport('nanoclaw_wheels')
  return wheels.map((wheel) => {
    pyodide.FS.writeFile('/tmp/wheel.zip', readFileSync(wheel.file))
    const description = JSON.parse(reader.describe_wheel('/tmp/wheel.zip'))
    pyodide.FS.unlink('/tmp/wheel.zip')
    return { ...wheel, ...description }
  })
}

async function serve(pyodide, runner) {
  for (const folder of ['/workspace', '/skills', '/output']) pyodide.FS.mkdirTree(folder)
  const output = createOutput()
  pyodide.setStdout({ write: output.stdout, isatty: false })
  pyodide.setStderr({ write: output.stderr, isatty: false })
  lockProcess()
  send({ type: 'ready', probe: probe() })

  let file = null
  for (;;) {
    const command = nextCommand()
    if (command.type === 'file') {
      file = { path: command.path, parts: [] }
    } else if (command.type === 'chunk') {
      file.parts.push(Buffer.from(command.data, 'base64'))
    } else if (command.type === 'end_file') {
      putFile(pyodide, file.path, Buffer.concat(file.parts))
      file = null
    } else if (command.type === 'describe') {
      send({ type: 'described', wheels: describeWheels(pyodide, command.wheels) })
      return
    } else if (command.type === 'run') {
      const checked = JSON.parse(runner.check(JSON.stringify(command)))
      if (checked.error !== undefined) {
        send({ type: 'done', status: 'refused', error: checked.error, result: null, omitted: 0 })
        return
      }
      await loadPackages(pyodide, checked.wheels)
      limitFileSystem(pyodide)
      for (const folder of ['/workspace', '/skills']) pyodide.FS.chmod(folder, 0o555)
      pyodide.FS.chdir('/output')
      send({ type: 'running' })
      const outcome = JSON.parse(runner.execute())
      output.flush()
      const omitted = sendFiles(pyodide)
      send({ type: 'done', ...outcome, omitted })
      return
    }
  }
}

/** Attempts, without doing harm, what a program must not be able to do. The server rejects an interpreter in which any of it works. */
function probe() {
  const works = (attempt) => {
    try {
      attempt()
      return true
    } catch {
      return false
    }
  }
  return {
    readsHostFiles: works(() => readFileSync('/etc/hostname')),
    listsHostFolders: works(() => fs.readdirSync('/')),
    makesCode: works(() => new Function('return 1')()),
    hasEnvironment: Object.keys(process.env).length > 0,
    hasBindings: works(() => process.binding('fs')),
    hasNetwork: typeof fetch === 'function',
  }
}

async function main() {
  if (options.mode === 'probe') {
    lockProcess()
    send({ type: 'ready', probe: probe() })
    return
  }
  const mainModule = createMainModule({
    machineCode: options.code === null ? null : readAll(options.code),
    optimizes: options.mode === 'code',
  })
  redirectFiles(mainModule)
  if (options.mode === 'serve') {
    const pyodide = await startPyodide()
    mainModule.close()
    await serve(pyodide, pyodide.pyimport('nanoclaw_runner'))
    return
  }
  if (options.mode === 'library') await buildLibrary()
  else if (options.mode === 'image') await buildImage()
  else await buildMachineCode(mainModule)
  send({ type: 'built' })
}

try {
  await main()
  process.reallyExit(0)
} catch (error) {
  send({ type: 'broken', reason: String(error?.message || error).slice(0, 2000) })
  process.reallyExit(1)
}
