// Bundles the server and its packages, with its child programs beside it, so that startup reads few files.
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build as bundle, type Metafile, type Plugin } from 'esbuild'

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

/** Packages that stay in `node_modules`: they load native code or their own files, or are optional. */
const EXTERNAL_PACKAGES = [
  '@node-rs/argon2',
  '@vscode/ripgrep',
  'better-sqlite3',
  'better-sqlite3-12',
  // LGPL: the operator must be able to replace it.
  'libheif-js',
  'pyodide',
  'sharp',
  'sqlite-vec',
  // Loaded only if traces are configured.
  '@opentelemetry/sdk-trace-base',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  // Fastify loads them only for schemas without a compiler and for injected requests.
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
  // Never installed; `pg` and `linkedom` work without them.
  'pg-native',
  'canvas',
]

/** Packages whose files the built server reads from `node_modules`. */
const PACKAGES_WITH_FILES = [
  '@fontsource-variable/geist',
  '@fontsource-variable/geist-mono',
  '@fontsource-variable/newsreader',
  '@fontsource/stix-two-math',
]

/** The packages that the built server needs beside it; all others are in the build. */
export const RUNTIME_PACKAGES: readonly string[] = [...EXTERNAL_PACKAGES, ...PACKAGES_WITH_FILES]

/** Bundled CommonJS packages call `require` for Node's built-in modules. */
const BANNER = `import { createRequire as createRequireOfBuild } from 'node:module'
const urlOfBuild = import.meta.url
const requireOfBuild = createRequireOfBuild(urlOfBuild)
const require = requireOfBuild`

/** The pages of the API reference are copied beside the chunks of the build; `__dirname` of their package leads there. */
const REFERENCE_FOLDER = 'swagger-ui'
const referencePages: Plugin = {
  name: 'reference-pages',
  setup(build) {
    build.onLoad({ filter: /@fastify\/swagger-ui\/(index|lib\/routes)\.js$/ }, async ({ path }) => {
      const place = path.endsWith('routes.js') ? `${REFERENCE_FOLDER}/lib` : REFERENCE_FOLDER
      const folder = `require('node:url').fileURLToPath(new URL('./${place}', urlOfBuild))`
      return { contents: `const __dirname = ${folder};${await readFile(path, 'utf8')}` }
    })
  },
}

/** Parts that packages load at once and the server never uses. Left out because startup reads and compiles every line. */
const UNUSED = [
  {
    file: /zod\/v4\/locales\/index\.js$/,
    text: /^export .*\n/gm,
    replaceWith: (line: string) => (/\bas en \}/.test(line) ? line : ''),
  },
  {
    // Used only to list a folder at startup instead of looking up each requested file.
    file: /@fastify\/static\/index\.js$/,
    text: /const \{ glob \} = require\('glob'\)\n/,
    replaceWith: () => '',
  },
] as const

const withoutUnused: Plugin = {
  name: 'without-unused',
  setup(build) {
    for (const { file, text, replaceWith } of UNUSED)
      build.onLoad({ filter: file }, async ({ path }) => {
        const source = await readFile(path, 'utf8')
        const contents = source.replace(text, replaceWith)
        if (contents === source) throw new Error(`${path} has changed. Update UNUSED.`)
        return { contents }
      })
  },
}

/**
 * Writes characters beyond ASCII in the sources as escapes. esbuild does so in strings, but not in regular expressions; and V8 keeps a
 * whole file at two bytes for each character when one of them is beyond Latin-1.
 */
const asciiSources: Plugin = {
  name: 'ascii-sources',
  setup(build) {
    build.onLoad({ filter: /\/server\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const contents = source.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      if (contents !== source && source.includes('String.raw'))
        throw new Error(`${path}: an escape would change the text of String.raw.`)
      return { contents, loader: 'ts' }
    })
  },
}

/** The folders of all packages whose code is in the build. */
function packagesIn({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).flatMap(
    (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  )
  return [...new Set(folders)].sort()
}

/** The licenses of packages, which ask that copies of their code come with them. */
async function licensesOf(folders: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    folders.map(async (name) => {
      const folder = join(root, name)
      const files = (await readdir(folder)).filter((file) =>
        /^(licen[cs]e|notice|copying)/i.test(file),
      )
      const contents = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
      return [name.replace(/^.*node_modules\//, ''), ...contents].join('\n\n')
    }),
  )
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/**
 * In the build, a CommonJS package that is imported late has only a default export, although the sources see its names.
 * @throws if a file of the server would read a name that is missing there.
 */
async function checkLateImports({ inputs }: Metafile): Promise<void> {
  for (const [file, { imports }] of Object.entries(inputs)) {
    const packages = imports.flatMap(({ kind, path, original = path }) =>
      kind === 'dynamic-import' && inputs[path]?.format === 'cjs' ? [original] : [],
    )
    if (!file.startsWith('server/') || packages.length === 0) continue
    // The remaining uses after removing those that read only the default export.
    const rest = (await readFile(join(root, file), 'utf8'))
      .replaceAll(/\{ default: \w+ \} = await import\('[^']+'\)/g, '')
      .replaceAll(/\(await import\('[^']+'\)\)\.default/g, '')
    const wrong = packages.find((name) => rest.includes(`import('${name}')`))
    if (wrong !== undefined)
      throw new Error(
        `${file}: ${wrong} is CommonJS. Only its default export can be imported dynamically.`,
      )
  }
}

/** Bundles the server and its child programs into the folder, replacing its content. */
export async function buildServer(serverOut: string): Promise<void> {
  await rm(serverOut, { recursive: true, force: true })
  const children = (await filesOf(join(root, 'server'))).filter(isChildProgram)
  const { metafile } = await bundle({
    // app.ts is an entry point too, because tests import it from the build, which takes half as long as importing the sources.
    entryPoints: [join(root, 'server/main.ts'), join(root, 'server/app.ts'), ...children],
    outdir: serverOut,
    outbase: join(root, 'server'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: EXTERNAL_PACKAGES,
    banner: { js: BANNER },
    plugins: [referencePages, withoutUnused, asciiSources],
    sourcemap: 'linked',
    sourcesContent: false,
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    absWorkingDir: root,
  })
  await checkLateImports(metafile)
  await writeFile(
    join(serverOut, 'third-party-licenses.txt'),
    await licensesOf(packagesIn(metafile)),
  )
  await copyCMaps(serverOut)
  await copyLocales(serverOut)
  await copySkills(serverOut)
  await cp(
    join(root, 'node_modules/@fastify/swagger-ui/static'),
    join(serverOut, REFERENCE_FOLDER, 'static'),
    { recursive: true },
  )
  // Child programs that permission flags name by path are copied unchanged.
  const childFolder = join(root, 'server/sandbox/child')
  if (await exists(childFolder))
    await cp(childFolder, join(serverOut, 'sandbox/child'), { recursive: true })
}

/**
 * Copies the CMaps of pdf.js beside the file that `server/lib/pdf.ts` is bundled into: the chunks of the build are at its top.
 */
const copyCMaps = (serverOut: string): Promise<void> =>
  cp(join(root, 'server/lib/cmaps'), join(serverOut, 'cmaps'), { recursive: true })

/** Copies the texts that the server reads (`server/lib/locale-texts.ts`), for the same reason. */
const copyLocales = (serverOut: string): Promise<void> =>
  cp(join(root, 'locales'), join(serverOut, 'locales'), {
    recursive: true,
    filter: (path) => !path.endsWith('.ts'),
  })

/** Copies the skills that come with the server (`server/skills/built-in.ts`), for the same reason. */
const copySkills = (serverOut: string): Promise<void> =>
  cp(join(root, 'skills'), join(serverOut, 'skills'), { recursive: true })

/** Whether the path exists. */
export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
