// Parsing unified diffs into numbered rows, and pairing them for a side-by-side view.
import { expect, test } from 'vitest'
import { isCut, pairRows, readDiff } from '../../web/src/ui/code/diff-lines.ts'

const diff = `--- a/notes/tea.md
+++ b/notes/tea.md
@@ -1,3 +1,4 @@
 # Tea
-Prices: unknown
+Prices: 48
+Mean: 35
 end
`

test('rows carry the line numbers of both sides', () => {
  const [file] = readDiff(diff)
  expect(file?.name).toBe('notes/tea.md')
  expect([file?.added, file?.removed]).toEqual([2, 1])
  expect(file?.rows.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['hunk', null, null],
    ['context', 1, 1],
    ['remove', 2, null],
    ['add', null, 2],
    ['add', null, 3],
    ['context', 3, 4],
  ])
})

test('removed and added lines are shown side by side', () => {
  const pairs = pairRows(readDiff(diff)[0]?.rows ?? [])
  expect(
    pairs.map((pair) =>
      pair.kind === 'hunk' ? 'hunk' : [pair.before?.text ?? null, pair.after?.text ?? null],
    ),
  ).toEqual([
    'hunk',
    ['# Tea', '# Tea'],
    ['Prices: unknown', 'Prices: 48'],
    [null, 'Mean: 35'],
    ['end', 'end'],
  ])
})

test('several files, and lines that look like headers, are distinguished', () => {
  const files = readDiff(
    `Index: a\n===\n--- a\n+++ a\n@@ -1 +1 @@\n--- not a header\n+++ neither\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n`,
  )
  expect(files.map(({ name, added, removed }) => [name, added, removed])).toEqual([
    ['a', 1, 1],
    ['new.txt', 1, 0],
  ])
})

test('text that is not a diff is shown unchanged', () => {
  expect(readDiff('').flatMap(({ rows }) => rows)).toEqual([])
  expect(() => readDiff('@@ broken\n+x\n-y')).not.toThrow()
})

test('what a diff leaves out is said: by a line of its own, or by a limit', () => {
  const [file] = readDiff('--- a/x\n+++ b/x\n\\ Not a text that can be compared.\n')
  expect(file?.rows.map(({ text }) => text)).toEqual(['\\ Not a text that can be compared.'])
  const [whole] = readDiff('--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n')
  expect(whole?.rows).toHaveLength(2)
  expect(isCut('+x\n'.repeat(4_000))).toBe(false)
  expect(isCut('+x\n'.repeat(4_001))).toBe(true)
})
