// Every relative link, anchor, source path and function in the documentation exists, and every source file that a comment names.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sourceFiles } from './support/code/source-files.ts'

const root = resolve(import.meta.dirname, '..')

const pages = [
  ...['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].map(
    (name) => join(root, name),
  ),
  ...readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name)),
]

/** Targets of `[text](target)` and `![text](target)` within this repository. */
const targetsIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))

/** The link targets that are files, without their anchors. */
const linksIn = (text: string): string[] =>
  targetsIn(text)
    .map((target) => target.split('#')[0] ?? '')
    .filter((target) => target !== '')

/** The anchors that GitHub generates for the headings of a page. */
const anchorsOf = (text: string): Set<string> => {
  const seen = new Map<string, number>()
  const headings = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} +(.+)$/gm)]
  return new Set(
    headings.map(([, heading = '']) => {
      const slug = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
        .replaceAll(' ', '-')
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    }),
  )
}

/** Paths such as `server/routes/index.ts` in running text; those with a placeholder (`<x>`, `*`, `…`) are ignored. */
const sourcePathsIn = (text: string): string[] =>
  [
    ...text.matchAll(
      /(?<![\w./-])(?:server|web|locales|tests|examples|scripts|bench)\/[\w./-]*[<*…]?/g,
    ),
  ]
    .map(([path]) => path.replace(/\.$/, ''))
    .filter((path) => !/[<*…]$/.test(path))

/** The targets that do not exist, each with the page that names it. */
const missingFrom = (page: string, base: string, targets: readonly string[]): string[] =>
  targets
    .filter((target) => !existsSync(resolve(base, target)))
    .map((target) => `${relative(root, page)}: ${target}`)

const sources = ['server', 'web/src', 'locales', 'tests', 'bench', 'scripts'].flatMap((folder) =>
  sourceFiles(join(root, folder)),
)

/** `runs/worker.ts` in backticks, also without the folders above it. */
const filesIn = (text: string): string[] =>
  [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+(?:\.\w+)?\.tsx?)`/g)].map(([, path = '']) => path)

/** The same in comments, where paths need no backticks. */
const filesInComments = (text: string): string[] =>
  [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)].flatMap(([comment]) =>
    [...comment.matchAll(/(?<![\w./@<-])(?:[\w-]+\/)*[\w-]+(?:\.\w+)?\.tsx?\b/g)].map(
      ([path]) => path,
    ),
  )

/** Those that are not the end of any source file's path. */
const unknownFiles = (page: string, paths: readonly string[]): string[] =>
  paths
    .filter((path) => !sources.some((source) => source.endsWith(`/${path}`)))
    .filter((path) => !existsSync(join(root, path)))
    .map((path) => `${relative(root, page)}: ${path}`)

describe('documentation', () => {
  test('every relative link leads to a file', () => {
    const links = pages.map((page) => ({ page, targets: linksIn(readFileSync(page, 'utf8')) }))
    expect(links.flatMap(({ targets }) => targets).length).toBeGreaterThan(50)
    expect(links.flatMap(({ page, targets }) => missingFrom(page, dirname(page), targets))).toEqual(
      [],
    )
  })

  test('every anchor in a link is a heading of the linked page', () => {
    expect(anchorsOf('# A & `b_c`\n```\n# no\n```\n## 中文 1\n## 中文 1')).toEqual(
      new Set(['a--b_c', '中文-1', '中文-1-1']),
    )
    const wrong = pages.flatMap((page) =>
      targetsIn(readFileSync(page, 'utf8'))
        .filter((target) => /(^|\.md)#/.test(target))
        .filter((target) => {
          const [file = '', anchor = ''] = target.split('#')
          const linked = file === '' ? page : resolve(dirname(page), file)
          return !existsSync(linked) || !anchorsOf(readFileSync(linked, 'utf8')).has(anchor)
        })
        .map((target) => `${relative(root, page)}: ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('every source path that is mentioned exists', () => {
    const paths = pages.map((page) => ({
      page,
      targets: sourcePathsIn(readFileSync(page, 'utf8')),
    }))
    expect(paths.flatMap(({ targets }) => targets).length).toBeGreaterThan(20)
    expect(paths.flatMap(({ page, targets }) => missingFrom(page, root, targets))).toEqual([])
  })

  test('every decision is listed in docs/architecture.md', () => {
    const index = linksIn(readFileSync(join(root, 'docs/architecture.md'), 'utf8'))
    const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => `decisions/${name}`)
    expect(decisions.filter((decision) => !index.includes(decision))).toEqual([])
  })

  test('every source file that a page or a comment names exists', () => {
    expect(filesInComments('/** See `a/b.ts`. */ x() // c.test.ts\nurl("http://d.ts")')).toEqual([
      'a/b.ts',
      'c.test.ts',
    ])
    const unknown = [
      ...pages.flatMap((page) => unknownFiles(page, filesIn(readFileSync(page, 'utf8')))),
      // Tests name files that they make up.
      ...sources
        .filter((source) => !relative(root, source).startsWith('tests'))
        .flatMap((source) => unknownFiles(source, filesInComments(readFileSync(source, 'utf8')))),
    ]
    expect(unknown).toEqual([])
  })

  test('every function that a page places in a file exists in that file', () => {
    const places = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/`(\w+)`\s+in\s+\[`[^`]+`\]\(([^()#\s]+)\)/g)].map(
        ([, name = '', target = '']) => ({ name, file: resolve(dirname(page), target) }),
      ),
    )
    expect(places.length).toBeGreaterThan(10)
    const missing = places.filter(
      ({ name, file }) => !new RegExp(`\\b${name}\\b`).test(readFileSync(file, 'utf8')),
    )
    expect(missing).toEqual([])
  })
})
