// Files of a project that are searchable: their documents follow them when they change, move and disappear.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import type { DocumentRepository } from '../../../server/db/repositories/projects/documents.ts'
import { createStore } from '../../../server/db/store.ts'
import { createKnowledge } from '../../../server/knowledge/knowledge.ts'
import { encodeText } from '../../../server/lib/encodings.ts'
import { searchableFolder } from '../../../server/tools/searchable-folder.ts'
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
  const stops: (() => Promise<void>)[] = []
  /** One process; `differing`: where it is not like others. */
  const startInstance = (differing: Partial<DocumentRepository> = {}) => {
    const instance = createKnowledge({
      documents: { ...store.documents, ...differing },
      folder,
      storage: unlimitedStorage,
      openFolder: (user, id) => searchableFolder(project.workspaces.open(user, id), MAX_BYTES),
      onChange: () => undefined,
      log: { warn: (details, message) => warnings.push({ message, ...details }) },
    })
    stops.push(instance.stop)
    return instance
  }
  const knowledge = startInstance()
  checkpoints.onChange(knowledge.filesChanged)
  onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()))
    await rm(folder, { recursive: true, force: true })
    // One of a file that cannot be read is for the operator.
    expect(warnings.filter(({ message }) => message !== 'a document could not be read')).toEqual([])
  })
  const found = async (question: string) =>
    (await knowledge.search({ userId, projectId }, question, 5)).map(({ document, text }) => [
      document,
      text,
    ])
  return {
    ...{ knowledge, found, projectId, userId, startInstance },
    documents: store.documents,
    stored: () => readdir(folder),
    /** As a process that ends before it has told anybody. */
    writeUnnoticed: (path: string, text: string) => workspace.write(path, Buffer.from(text)),
    removeUnnoticed: (path: string) => workspace.remove(path),
    used: () => store.storage.used(userId),
    write: (path: string, content: string | Uint8Array) =>
      checkpoints.change(workspace, BY_HAND, [path], () =>
        workspace.write(path, typeof content === 'string' ? Buffer.from(content) : content),
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
    const text = 'An old text. '.repeat(50)
    const passages = [{ heading: null, page: null, text }]
    for (const path of ['tea.md', '../escape.md'])
      await knowledge.addPassages(
        { userId, projectId },
        { name: 'tea.md', mime: 'text/plain', path, passages },
      )
    // Its text counts until it is that of a file, which counts with the project.
    expect(await used()).toBe(2 * text.length)
    await write('tea.md', 'A new text.')
    await expectDocuments({ path: 'tea.md', status: 'ready', size: 11 })
    expect(await found('text')).toEqual([['tea.md', 'A new text.']])
    expect(await used()).toBe(0)
  })

  test('keeps its new text when another instance ends reading the old one', async () => {
    const { startInstance, documents, write, userId, projectId, expectDocuments, found, stored } =
      await prepare(await open())
    let isReading = false
    const stores: boolean[] = []
    let goOn = (): void => {}
    const newIsStored = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const slow = startInstance({
      async index(...read) {
        isReading = true
        await newIsStored
        const isStored = await documents.index(...read)
        stores.push(isStored)
        return isStored
      },
    })
    await write('tea.md', 'An old text.')
    await slow.addFile({ userId, projectId }, 'tea.md')
    await eventually(async () => expect(isReading).toBe(true))
    await write('tea.md', 'A new text.')
    await expectDocuments({ status: 'ready', size: 11 })
    goOn()
    await eventually(async () => expect(stores).toEqual([false]))
    await slow.stop()
    await expectDocuments({ status: 'ready', size: 11 })
    expect(await found('text')).toEqual([['tea.md', 'A new text.']])
    await eventually(async () => expect(await stored()).toEqual([]))
  })

  test('is read at the start when the last process ended before it had read it', async () => {
    const prepared = await prepare(await open())
    const { startInstance, write, writeUnnoticed, removeUnnoticed, remove } = prepared
    const { documents, userId, projectId, found, makeSearchable, expectDocuments } = prepared
    await write('tea.md', 'An old text.')
    await write('coffee.md', 'Another text.')
    await write('missing.md', 'No words.')
    const missing = await makeSearchable('missing.md')
    await makeSearchable('tea.md')
    await eventually(async () =>
      expect((await documents.ofFiles(projectId)).map(({ status }) => status)).toEqual([
        'ready',
        'ready',
      ]),
    )
    await removeUnnoticed('missing.md')
    await writeUnnoticed('tea.md', 'A new text.')
    const dying = startInstance({ restart: () => new Promise(() => undefined) })
    void dying.addFile({ userId, projectId }, 'coffee.md')
    await eventually(async () => expect(await documents.ofFiles(projectId)).toHaveLength(3))

    await startInstance().start()
    await eventually(async () =>
      expect((await found('text')).sort()).toEqual([
        ['coffee.md', 'Another text.'],
        ['tea.md', 'A new text.'],
      ]),
    )
    // It may be missing only for a moment: the next change tells.
    expect(await documents.find(projectId, missing.id)).toMatchObject({ status: 'ready' })
    await remove('coffee.md')
    await expectDocuments({ path: 'tea.md' })
  })

  test('stays in the encoding that a person has chosen, and not in one that was found', async () => {
    const { knowledge, projectId, write, makeSearchable, expectDocuments } = await prepare(
      await open(),
    )
    const koi8 = (text: string) => encodeText(text, { name: 'koi8-u', bom: false }) ?? ''
    await write('smeta.txt', koi8('Смета: восемь стульев'))
    const { id } = await makeSearchable('smeta.txt')
    await expectDocuments({ status: 'ready', encoding: 'koi8-u' })
    await knowledge.readAs(projectId, id, 'windows-1251')
    await expectDocuments({ status: 'ready', encoding: 'windows-1251' })
    const longer = koi8('Смета: восемь стульев и стол')
    await write('smeta.txt', longer)
    await expectDocuments({ status: 'ready', encoding: 'windows-1251', size: longer.length })
    await knowledge.readAs(projectId, id, 'koi8-u')
    await expectDocuments({ status: 'ready', encoding: 'koi8-u' })
    await write('smeta.txt', 'Смета в UTF-8')
    await expectDocuments({ status: 'ready', encoding: null })
  })
})
