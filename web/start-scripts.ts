// The scripts that run before the application has loaded, with their texts in all languages: which one is needed, only the browser knows.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { transformSync } from 'esbuild'
import type { Plugin } from 'vite'
import { LANGUAGES } from '../locales/languages.ts'

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, path), 'utf8')

type FirstScreen = { composer: { message: string; placeholder: string } }
type Start = { willBeSent: string; failed: string; failedAdvice: string; reload: string }

/** The texts of each script in a language. */
const textsOf = {
  'early-field.js': ({ composer }: FirstScreen, { willBeSent }: Start) => ({
    message: composer.message,
    placeholder: composer.placeholder,
    willBeSent,
  }),
  'load-failure.js': (_: FirstScreen, { failed, failedAdvice, reload }: Start) => ({
    failed,
    failedAdvice,
    reload,
  }),
}

type Script = keyof typeof textsOf

/** A script with its texts, as `START_TEXTS`. */
export function startScript(name: Script): string {
  const texts = Object.keys(LANGUAGES).map((code) => [
    code,
    textsOf[name](
      JSON.parse(read(`../locales/${code}/first-screen.json`)),
      JSON.parse(read(`../locales/${code}/start.json`)),
    ),
  ])
  const source = `{const START_TEXTS=${JSON.stringify(Object.fromEntries(texts))};${read(name)}}`
  return transformSync(source, { minify: true, target: 'es2022', charset: 'utf8' }).code.trim()
}

/** Adds the scripts: the build inlines `early-field.js`, and both are files for the development server. */
export const startScripts = (): Plugin => ({
  name: 'start-scripts',
  configureServer({ middlewares }) {
    for (const name of ['early-field.js', 'load-failure.js'] as const)
      middlewares.use(`/${name}`, (_request, response) => {
        response.setHeader('content-type', 'text/javascript').end(startScript(name))
      })
  },
  generateBundle() {
    this.emitFile({
      type: 'asset',
      fileName: 'load-failure.js',
      source: startScript('load-failure.js'),
    })
  },
})
