// Builds the libraries that apps can import into modules of their own, which the server offers at the origin of apps.
import { createRequire } from 'node:module'
import { basename, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'vite'

const require = createRequire(import.meta.url)

/** What components can import, besides Mermaid. Everything else of these packages is not offered. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  react: ['react', 'react/jsx-runtime'],
  'react-dom': ['react-dom', 'react-dom/client'],
  'lucide-react': ['lucide-react'],
}
const FOLDER = 'libraries'

/** A module with every name of another one: those of CommonJS packages are known only once they run. */
function entryOf(module: string): string {
  if (module === 'lucide-react') return `export * from '${module}'`
  const names = Object.keys(Object(require(module))).filter((name) => /^[a-z_]\w*$/i.test(name))
  return `import all from '${module}'\nexport default all\nexport const { ${names.join(', ')} } = all`
}

const versionOf = (name: string): string => {
  const { version }: { version: unknown } = require(`${name}/package.json`)
  return String(version)
}

const fileNameOf = (module: string): string => module.replaceAll('/', '-')

/**
 * React is the form for development: its messages say what is wrong, which both people and models need to mend an app.
 * @param mermaid the folder of `assets` with Mermaid's own modules.
 */
export const appLibraries = (mermaid: { version: string; folder: string }): Plugin => ({
  name: 'app-libraries',
  apply: 'build',
  async generateBundle() {
    const modules = Object.values(LIBRARIES).flat()
    const { outputFiles, metafile } = await build({
      entryPoints: modules.map((module) => ({ in: `library:${module}`, out: fileNameOf(module) })),
      plugins: [
        {
          name: 'entries',
          setup(bundler) {
            bundler.onResolve({ filter: /^library:/ }, ({ path }) => ({
              path: path.slice('library:'.length),
              namespace: 'library',
            }))
            bundler.onLoad({ filter: /./, namespace: 'library' }, ({ path }) => ({
              contents: entryOf(path),
              resolveDir: import.meta.dirname,
            }))
          },
        },
      ],
      bundle: true,
      splitting: true,
      format: 'esm',
      target: 'es2022',
      define: { 'process.env.NODE_ENV': '"development"' },
      minify: true,
      legalComments: 'eof',
      entryNames: '[name]-[hash]',
      chunkNames: 'chunk-[hash]',
      outExtension: { '.js': '.mjs' },
      outdir: resolve(import.meta.dirname, '../dist/web/assets', FOLDER),
      write: false,
      metafile: true,
    })
    for (const { path, contents } of outputFiles)
      this.emitFile({
        type: 'asset',
        fileName: `assets/${FOLDER}/${basename(path)}`,
        source: contents,
      })
    const fileOf = (module: string): string => {
      const found = Object.entries(metafile.outputs).find(
        ([, { entryPoint }]) => entryPoint === `library:${module}`,
      )
      if (found === undefined) throw new Error(`The build has no module ${module}`)
      return `${FOLDER}/${basename(found[0])}`
    }
    const manifest = [
      ...Object.entries(LIBRARIES).map(([name, names]) => ({
        name,
        version: versionOf(name),
        modules: Object.fromEntries(names.map((module) => [module, fileOf(module)])),
      })),
      {
        name: 'mermaid',
        version: mermaid.version,
        modules: { mermaid: `${mermaid.folder}/mermaid.esm.min.mjs` },
      },
    ]
    this.emitFile({
      type: 'asset',
      fileName: `assets/${FOLDER}/libraries.json`,
      source: JSON.stringify(manifest),
    })
  },
})
