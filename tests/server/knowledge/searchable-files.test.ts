// Files of a project that are searchable: their documents follow them when they change, move and disappear.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { searchableFolder } from '../../../server/composition/tools/searchable-folder.ts'
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { createKnowledge } from '../../../server/knowledge/knowledge.ts'
import { unlimitedStorage } from '../../../server/workspace/storage-quota.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject } from '../../support/store/projects.ts'

const BY_HAND = { tool: 'editor', messageId: null, runId: null }
const MAX_BYTES = 10_000

async function prepare(database: Database) {
  const project = await openProject(database)
  const { workspace, checkpoints, projectId, userId } = project
  const store = createStore(database)
  const folder = await mkdtemp(join(tmpdir(), 'searchable-'))
  const warnings: { message: string }[] = []
  const knowledge = createKnowledge({
    documents: store.documents,
    folder,
    storage: unlimitedStorage,
    openFolder: (user, id) => searchableFolder(project.workspaces.open(user, id), MAX_BYTES),
    onChange: () => undefined,
    log: { warn: (details, message) => warnings.push({ message, ...details }) },
  })
  checkpoints.onChange(knowledge.filesChanged)
  onTestFinished(async () => {
    await knowledge.stop()
    await rm(folder, { recursive: true, force: true })
    // One of a file that cannot be read is for the operator.
    expect(warnings.filter(({ message }) => message !== 'a document could not be read')).toEqual([])
  })
  const found = async (question: string) =>
    (await knowledge.search(projectId, question, 5)).map(({ document, text }) => [document, text])
  return {
    ...{ knowledge, found, projectId, userId },
    used: () => store.storage.used(userId),
    write: (path: string, text: string) =>
      checkpoints.change(workspace, BY_HAND, [path], () =>
        workspace.write(path, Buffer.from(text)),
      ),
    move: (from: string, to: string) => checkpoints.move(workspace, BY_HAND, from, to),
    remove: (path: string) =>
      checkpoints.change(workspace, BY_HAND, [path], () => workspace.remove(path)),
    makeSearchable: (path: string) => knowledge.addFile({ userId, projectId }, path),
    /** The documents once their state is this one. */
    expectDocuments: (...expected: object[]) =>
      eventually(async () => {
        const rows = await knowledge.ofFiles(projectId)
        expect(rows).toEqual(expected.map((one) => expect.objectContaining(one)))
        return rows
      }),
  }
}

describeOnEachDatabase('a searchable file', (open) => {
  test('is found, and its document follows it: with what is written, wherever it is moved, until it is deleted', async () => {
    const { write, move, remove, makeSearchable, expectDocuments, found, used } = await prepare(
      await open(),
    )
    await write('docs/tea.md', '# Tea\n\nWuyi tea is roasted over charcoal.')
    await write('docs/other.md', 'Nobody searches this charcoal.')
    const document = await makeSearchable('docs/tea.md')
    expect(document).toMatchObject({ name: 'tea.md', path: 'docs/tea.md' })
    expect(await makeSearchable('docs/tea.md')).toMatchObject({ id: document.id })
    await expectDocuments({ id: document.id, status: 'ready', passages: 1 })
    expect(await found('charcoal')).toEqual([['tea.md', 'Wuyi tea is roasted over charcoal.']])
    // Its bytes count with the project.
    expect(await used()).toBe(0)

    await write('docs/tea.md', '# Tea\n\nNow it is dried in the sun.')
    await eventually(async () =>
      expect(await found('sun')).toEqual([['tea.md', 'Now it is dried in the sun.']]),
    )
    expect(await found('charcoal')).toEqual([])

    await move('docs/tea.md', 'drinks/green tea.md')
    await expectDocuments({ id: document.id, path: 'drinks/green tea.md', name: 'green tea.md' })
    await move('drinks', 'archive')
    await expectDocuments({ id: document.id, path: 'archive/green tea.md', status: 'ready' })
    await remove('archive')
    await expectDocuments()
    expect(await found('sun')).toEqual([])
  })

  test('that cannot be read says why, and is read again once it has changed', async () => {
    const { write, makeSearchable, expectDocuments } = await prepare(await open())
    await write('notes.md', '')
    await makeSearchable('notes.md')
    await expectDocuments({ status: 'failed', failure: { reason: 'document_empty' } })
    await write('notes.md', 'Something.')
    await expectDocuments({ status: 'ready', error: null, passages: 1 })
    await write('notes.md', 'x'.repeat(MAX_BYTES + 1))
    await expectDocuments({ status: 'failed', failure: { reason: 'document_too_large' } })
    await expect(makeSearchable('none.md')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('of an import is read again with the next change, and removed if there is no such file', async () => {
    const { knowledge, userId, projectId, write, expectDocuments, found, used } = await prepare(
      await open(),
    )
    const passages = [{ heading: null, page: null, text: 'An old text.' }]
    for (const path of ['tea.md', '../escape.md'])
      await knowledge.addPassages(
        { userId, projectId },
        { name: 'tea.md', mime: 'text/plain', path, passages },
      )
    await write('tea.md', 'A new text.')
    await expectDocuments({ path: 'tea.md', status: 'ready', size: 11 })
    expect(await found('text')).toEqual([['tea.md', 'A new text.']])
  })
})
    // Its text counts until it is that of a file, which counts with the project.
    expect(await used()).toBe(2 * 'An old text.'.length)
