// Reading a tree of a project while another program swaps links in for its folders.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AppError } from '../../../../server/errors.ts'
import { scan } from '../../../../server/workspace/checkpoints/capture/scan-tree.ts'

function createProject(): { root: string; outside: string } {
  const base = mkdtempSync(join(tmpdir(), 'scan-tree-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, outside] = [join(base, 'project'), join(base, 'outside')]
  mkdirSync(join(root, 'a/inner'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(root, 'a/inner/own.txt'), 'own')
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  return { root, outside }
}

test('a folder that a link replaces after it was seen is not read through the link', () => {
  const { root, outside } = createProject()
  const seen: string[] = []
  const read = () =>
    scan(root, (path) => {
      seen.push(path)
      if (path !== 'a') return
      renameSync(join(root, 'a'), join(outside, 'moved'))
      symlinkSync(outside, join(root, 'a'))
    })
  expect(read).toThrow(AppError)
  expect(seen).toEqual(['a'])
})

test('a folder that is being read stays the one that is read when a link replaces it', () => {
  const { root, outside } = createProject()
  const seen: string[] = []
  scan(
    root,
    (path) => {
      seen.push(path)
      if (path !== 'a/inner') return
      renameSync(join(root, 'a'), join(outside, 'moved'))
      symlinkSync(outside, join(root, 'a'))
    },
    { start: 'a' },
  )
  expect(seen).toEqual(['a/inner', 'a/inner/own.txt'])
})
