// Builds dist/: the bundled server and the page.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { buildServer, exists, filesOf } from './build-server.ts'

const root = resolve(import.meta.dirname, '..')
const webOut = join(root, 'dist/web')

async function buildPage(): Promise<void> {
  const config = join(root, 'web/vite.config.ts')
  if (!(await exists(config))) return
  const { build } = await import('vite')
  await build({ configFile: config, root: join(root, 'web'), logLevel: 'warn' })
  const assets = (await filesOf(webOut)).filter((file) =>
    /\.(m?js|css|svg|json|html|wasm)$/.test(file),
  )
  // Node compresses in its thread pool, which has four threads.
  const queue = assets.values()
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const file of queue) await compress(file)
    }),
  )
}

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)
const WORTH_COMPRESSING_BYTES = 1024

/** Writes the compressed versions beside each asset, so that the server never compresses at run time. */
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

const only = process.argv[2]
await mkdir(join(root, 'dist'), { recursive: true })
if (only !== 'web') await buildServer(join(root, 'dist/server'))
if (only !== 'server') await buildPage()
console.log(`Built ${relative(process.cwd(), join(root, 'dist')) || 'dist'}`)
