// Every relative link, anchor and source path in the documentation resolves.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

const pages = [
  ...['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map((name) =>
    join(root, name),
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
  [...text.matchAll(/(?<![\w./-])(?:server|web|tests|examples|scripts|bench)\/[\w./-]*[<*…]?/g)]
    .map(([path]) => path.replace(/\.$/, ''))
    .filter((path) => !/[<*…]$/.test(path))

/** The targets that do not exist, each with the page that names it. */
const missingFrom = (page: string, base: string, targets: readonly string[]): string[] =>
  targets
    .filter((target) => !existsSync(resolve(base, target)))
    .map((target) => `${relative(root, page)}: ${target}`)

describe('documentation', () => {
  test('every relative link leads to a file', () => {
    const links = pages.map((page) => ({ page, targets: linksIn(readFileSync(page, 'utf8')) }))
    expect(links.flatMap(({ targets }) => targets).length).toBeGreaterThan(50)
    expect(links.flatMap(({ page, targets }) => missingFrom(page, dirname(page), targets))).toEqual(
      [],
    )
  })

  test('every anchor in a link is a heading of the page that it leads to', () => {
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
})
