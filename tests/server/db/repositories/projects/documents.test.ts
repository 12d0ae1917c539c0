// Documents and the full-text index of their passages.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { storedFailure } from '../../../../../server/protocol/failures/stored.ts'
import type { ProjectId } from '../../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { fileRow } from '../../../../support/store/files.ts'
import { somebody } from '../../../../support/store/store-rows.ts'

describeOnEachDatabase('documents', (open) => {
  let database: Database
  let store: Store
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })

  async function documentOf(projectName: string, passages: string[]) {
    const user = await somebody(store)
    const project = await store.projects.create(user.id, { name: projectName, description: null })
    const document = await store.documents.create({
      projectId: project.id,
      userId: user.id,
      name: 'notes.md',
      mime: 'text/markdown',
      size: 10,
    })
    await store.documents.index(
      document,
      passages.map((text) => ({ heading: null, page: null, text, tokens: text.toLowerCase() })),
    )
    return { project, document }
  }
  test('the first document of a file counts with the file, and every other one as itself', async () => {
    const { id: userId } = await somebody(store)
    const sha256 = 'a'.repeat(64)
    const used = async () => (await store.storage.stored(userId)).documents.bytes
    for (const [name, bytes] of [
      ['one', 0],
      ['two', 1000],
      ['three', 2000],
    ] as const) {
      const project = await store.projects.create(userId, { name, description: null })
      const owned = { projectId: project.id, userId, name: 'a.txt', mime: 'text/plain', size: 0 }
      const { id } = await store.documents.create(owned)
      await store.documents.resize(id, 1000, sha256)
      if (name === 'one') {
        expect(await used()).toBe(1000)
        await database.write((tx) => store.files.insert(tx, fileRow(userId, { sha256 })))
      }
      expect(await used()).toBe(bytes)
    }
    expect(await store.storage.byUser()).toContainEqual(
      expect.objectContaining({ userId, documents: 2000 }),
    )
  })

  const found = async (projectId: ProjectId, ...words: string[]) =>
    (await store.documents.search(projectId, words, 10)).map(({ text }) => text)

  test('passages are found by any of the words, best first, in their project only', async () => {
    const { project, document } = await documentOf('one', [
      'Cats sleep all day',
      'Dogs bark; cats sleep and cats purr',
      'Nothing of the kind',
    ])
    const { project: other } = await documentOf('two', ['cats elsewhere'])
    expect(await found(project.id, 'purr', 'cats')).toEqual([
      'Dogs bark; cats sleep and cats purr',
      'Cats sleep all day',
    ])
    expect(await found(other.id, 'cats')).toEqual(['cats elsewhere'])
    expect((await store.documents.find(project.id, document.id))?.status).toBe('ready')
    expect(await store.documents.find(other.id, document.id)).toBeUndefined()
  })

  test('of thousands of passages with common words, those with the rare ones come first, wherever they are', async () => {
    const common = (at: number) => `the office asks about training number${at}`
    const texts = Array.from({ length: 2_500 }, (_, at) => common(at))
    texts[3] = 'the training about walruses at the office'
    texts[2_400] = 'an office of walruses'
    const { project } = await documentOf('many', texts)
    const { project: other } = await documentOf('beside', ['the office trains walruses'])
    const best = await found(project.id, 'office', 'training', 'walruses')
    expect(new Set(best.slice(0, 2))).toEqual(new Set([texts[3], texts[2_400]]))
    expect(await found(other.id, 'office', 'training', 'walruses')).toEqual([
      'the office trains walruses',
    ])
    expect(await found(project.id, 'office', 'about')).toHaveLength(10)
  })

  test('are found in ready documents while a much larger one is being indexed, and after one could not be', async () => {
    const texts = Array.from({ length: 5 }, (_, at) => `walruses in room ${at}`)
    const { project, document } = await documentOf('busy', texts)
    const larger = await store.documents.create({
      projectId: project.id,
      userId: (await somebody(store)).id,
      name: 'larger.md',
      mime: 'text/markdown',
      size: 10,
    })
    const row = { documentId: larger.id, projectId: project.id, heading: null, page: null }
    const text = 'walruses in a room of many'
    await database.write(async (tx) => {
      for (let from = 0; from < 2_000; from += 100)
        await tx.insert(database.tables.passages).values(
          Array.from({ length: 100 }, (_, at) => ({
            ...row,
            position: from + at,
            text,
            tokens: text,
          })),
        )
    })
    for (const fail of [false, true]) {
      if (fail) await store.documents.fail(larger, storedFailure('document_lost'))
      expect((await found(project.id, 'walruses')).toSorted()).toEqual(texts)
      expect(await found(project.id, 'walruses', 'room', 'many')).toHaveLength(5)
    }
    await store.documents.fail(document, storedFailure('document_lost'))
    expect(await found(project.id, 'walruses')).toEqual([])
  })

  test('words of a query are taken literally and never as operators', async () => {
    const { project } = await documentOf('three', ['plain words', 'near and or not'])
    for (const word of [
      '"',
      "'",
      'a" OR "b',
      '*',
      'plain*',
      '(',
      ')',
      ':',
      '^',
      '-',
      '!',
      '\\',
      '\0',
      '',
      ' ',
    ])
      await expect(store.documents.search(project.id, [word], 5)).resolves.toBeInstanceOf(Array)
    expect(await found(project.id, 'NOT')).toEqual(['near and or not'])
    expect(await found(project.id)).toEqual([])
  })

  test('indexing a document again and removing it leave none of the old text in the index', async () => {
    const { project, document } = await documentOf('four', ['zebra one', 'zebra two'])
    await store.documents.index(document, [
      { heading: 'H', page: 2, text: 'giraffe', tokens: 'giraffe' },
    ])
    expect(await found(project.id, 'zebra')).toEqual([])
    expect(await store.documents.search(project.id, ['giraffe'], 5)).toMatchObject([
      { heading: 'H', page: 2, position: 0, document: 'notes.md', documentId: document.id },
    ])
    expect(await store.documents.passagesOf(project.id, document.id, 0, 5)).toHaveLength(1)
    expect(await store.documents.remove(project.id, document.id)).toBe(true)
    expect(await found(project.id, 'giraffe')).toEqual([])
    expect(await store.documents.remove(project.id, document.id)).toBe(false)
  })

  test('what was read of a content is not stored when the document has a newer one', async () => {
    const { project, document } = await documentOf('newer', ['zebra'])
    const newer = { size: 7, sha256: 'b'.repeat(64), version: '2', encoding: null }
    expect(await store.documents.restart(document, newer)).toBe(true)
    const late = { heading: null, page: null, text: 'giraffe', tokens: 'giraffe' }
    expect(await store.documents.index(document, [late])).toBe(false)
    await store.documents.fail(document, storedFailure('document_lost'))
    const now = await store.documents.find(project.id, document.id)
    expect(now).toMatchObject({ ...newer, status: 'pending', error: null })
    // Neither does what saw an older version of the file restart it.
    expect(await store.documents.restart(document, { ...newer, version: '1' })).toBe(false)
    expect(await store.documents.index({ ...document, ...newer }, [late])).toBe(true)
    expect(await found(project.id, 'giraffe')).toEqual(['giraffe'])
  })

  test('removing a project removes its documents from the index', async () => {
    const user = await somebody(store)
    const project = await store.projects.create(user.id, { name: 'gone', description: null })
    const document = await store.documents.create({
      projectId: project.id,
      userId: user.id,
      name: 'a',
      mime: 'text/plain',
      size: 1,
    })
    expect((await store.documents.pending()).map(({ id }) => id)).toContain(document.id)
    await store.documents.index(document, [
      { heading: null, page: null, text: 'walrus', tokens: 'walrus' },
    ])
    await store.projects.remove(user.id, project.id)
    expect(await found(project.id, 'walrus')).toEqual([])
  })
})
