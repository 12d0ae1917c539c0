// Makes dist/: the server as one file beside its child programs and migrations, and the page.
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build as bundle, type Plugin } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
const serverOut = join(root, 'dist/server')
const webOut = join(root, 'dist/web')

/** Programs that the server starts as processes or workers of their own; see server/lib/child-entry.ts. */
const isChildProgram = (file: string): boolean => file.endsWith('.child.ts')

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Packages that go into the bundle: of mathjs only the parser is used, and loading all of it would slow down every start. */
const bundledPackages = /^mathjs(\/|$)/

const packagesStayOutside: Plugin = {
  name: 'packages-stay-outside',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      bundledPackages.test(path) || importer.includes('node_modules')
        ? null
        : { path, external: true },
    )
  },
}

async function buildServer(): Promise<void> {
  await rm(serverOut, { recursive: true, force: true })
  const children = (await filesOf(join(root, 'server'))).filter(isChildProgram)
  await bundle({
    entryPoints: [join(root, 'server/main.ts'), ...children],
    outdir: serverOut,
    outbase: join(root, 'server'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [packagesStayOutside],
    sourcemap: 'linked',
    logLevel: 'warning',
  })
  // Child programs that are named exactly in permission flags stay the files they are.
  const childFolder = join(root, 'server/sandbox/child')
  if (await exists(childFolder))
    await cp(childFolder, join(serverOut, 'sandbox/child'), { recursive: true })
}

async function buildPage(): Promise<void> {
  const config = join(root, 'web/vite.config.ts')
  if (!(await exists(config))) return
  const { build } = await import('vite')
  await build({ configFile: config, root: join(root, 'web'), logLevel: 'warn' })
  const assets = (await filesOf(webOut)).filter((file) =>
    /\.(js|css|svg|json|html|wasm)$/.test(file),
  )
  // Node compresses in threads: as many at a time as it has.
  const waiting = assets.values()
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const file of waiting) await compress(file)
    }),
  )
}

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)
const WORTH_COMPRESSING_BYTES = 1024

/** Beside each asset its compressed forms, so that the server never compresses while it serves. */
async function compress(file: string): Promise<void> {
  const content = await readFile(file)
  if (content.length < WORTH_COMPRESSING_BYTES) return
  const [zipped, brotli] = await Promise.all([
    gzipAsync(content, { level: 9 }),
    brotliAsync(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
    }),
  ])
  await Promise.all([writeFile(`${file}.gz`, zipped), writeFile(`${file}.br`, brotli)])
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

const only = process.argv[2]
await mkdir(join(root, 'dist'), { recursive: true })
if (only !== 'web') await buildServer()
if (only !== 'server') await buildPage()
console.log(`built ${relative(process.cwd(), join(root, 'dist')) || 'dist'}`)
