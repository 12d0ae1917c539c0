// Bundles the server into one file, with its child programs beside it.
import { cp, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build as bundle, type Plugin } from 'esbuild'

const root = resolve(import.meta.dirname, '..')

/** Programs that the server starts as child processes or worker threads; see server/lib/child-entry.ts. */
const isChildProgram = (file: string): boolean => file.endsWith('.child.ts')

/** All files below a folder. */
export async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Packages to include in the bundle. Only the parser of mathjs is used, and loading all of it would slow down the start. */
const BUNDLED_PACKAGES = /^mathjs(\/|$)/

const externalPackages: Plugin = {
  name: 'external-packages',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      BUNDLED_PACKAGES.test(path) || importer.includes('node_modules')
        ? null
        : { path, external: true },
    )
  },
}

/** Bundles the server and its child programs into the folder, replacing its content. */
export async function buildServer(serverOut: string): Promise<void> {
  await rm(serverOut, { recursive: true, force: true })
  const children = (await filesOf(join(root, 'server'))).filter(isChildProgram)
  await bundle({
    // app.ts is an entry point too, because tests import it from the build, which takes half as long as from the sources.
    entryPoints: [join(root, 'server/main.ts'), join(root, 'server/app.ts'), ...children],
    outdir: serverOut,
    outbase: join(root, 'server'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [externalPackages],
    sourcemap: 'linked',
    logLevel: 'warning',
  })
  // Child programs that permission flags name by path are copied unchanged.
  const childFolder = join(root, 'server/sandbox/child')
  if (await exists(childFolder))
    await cp(childFolder, join(serverOut, 'sandbox/child'), { recursive: true })
}

/** Whether the path exists. */
export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
