// Random sequences of changes, renames and restores leave the project with the expected contents.

import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import { randomFrom, SEED } from '../../../support/random.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { openProject, treeOf } from '../../../support/store/projects.ts'
import { by, move, newest, remove, restore, write } from './changes.ts'

describeOnEachDatabase('a project', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test(`has the expected contents after any sequence of changes and restores (SEED=${SEED})`, async () => {
    const rule = { keep: 1_000, maxAgeDays: 30, maxBytes: 1e9 }
    const project = await openProject(database, { rule })
    const { workspace, checkpoints } = project
    const random = randomFrom(SEED)
    const rounds = process.env.FAULTS === 'full' ? 400 : 15
    /** The project's contents before each checkpoint, and now: path to content; folders end in `/`. */
    const before: { id: string; tree: Record<string, string> }[] = []
    let tree: Record<string, string> = {}
    const name = () => random.pick(['a', 'b', 'c'])
    const path = () => Array.from({ length: 1 + random.below(3) }, name).join('/')
    const below = (folder: string) =>
      Object.keys(tree).filter((key) => key.startsWith(`${folder}/`))
    const isThere = (at: string) => at in tree || `${at}/` in tree
    const foldersAbove = (at: string) =>
      at
        .split('/')
        .slice(0, -1)
        .map((_part, depth, parts) => parts.slice(0, depth + 1).join('/'))
    const fits = (at: string) => foldersAbove(at).every((folder) => !(folder in tree))
    const withFolders = (at: string) =>
      Object.fromEntries(foldersAbove(at).map((folder) => [`${folder}/`, '']))
    const without = (at: string) =>
      Object.fromEntries(
        Object.entries(tree).filter(([key]) => key !== at && !key.startsWith(`${at}/`)),
      )
    const kinds = {
      async write(at: string, text: string) {
        if (!fits(at) || `${at}/` in tree) return
        await write(project, at, text)
        return { ...tree, ...withFolders(at), [at]: text }
      },
      async remove(at: string) {
        if (!isThere(at)) return
        await remove(project, at)
        return without(at)
      },
      async move(from: string, _text: string, to: string) {
        if (!isThere(from) || isThere(to) || !fits(to) || `${to}/`.startsWith(`${from}/`)) return
        await move(project, from, to)
        const moved = [...below(from), ...(from in tree ? [from] : [])].map((key) => [
          to + key.slice(from.length),
          tree[key] ?? '',
        ])
        return { ...without(from), ...withFolders(to), ...Object.fromEntries(moved) }
      },
      async program(from: string, text: string, to: string) {
        if (!(`${from}/` in tree) || isThere(to) || to.includes('/')) return
        if (`${to}/`.startsWith(`${from}/`)) return
        await checkpoints.changeAnything(workspace, by('exec'), async () => {
          await rename(join(workspace.root, from), join(workspace.root, to))
          await writeFile(join(workspace.root, to, 'made'), text)
        })
        const moved = below(from).map((key) => [to + key.slice(from.length), tree[key] ?? ''])
        return { ...without(from), ...Object.fromEntries(moved), [`${to}/made`]: text }
      },
      async restore() {
        if (before.length === 0) return
        const to = random.pick(before)
        await restore(project, to.id)
        return to.tree
      },
    }
    for (let round = 0; before.length < rounds && round < 20 * rounds; round++) {
      const kind = random.pick([
        ...(['write', 'write', 'write', 'move', 'move', 'move'] as const),
        ...(['remove', 'program', 'restore'] as const),
      ])
      const next = await kinds[kind](path(), `text ${round}`, path())
      if (next === undefined) continue
      expect(await treeOf(workspace.root), `${kind} of round ${round}`).toEqual(next)
      before.push({ id: (await newest(project)).id, tree })
      tree = next
    }
    for (const { id, tree: earlier } of [...before.toReversed().filter((_, at) => at % 4 === 0)]) {
      await restore(project, id)
      expect(await treeOf(workspace.root)).toEqual(earlier)
    }
  })
})
