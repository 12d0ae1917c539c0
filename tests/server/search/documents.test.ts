// Search in attached files and in the documents of projects, on both databases.
import { expect, test } from 'vitest'
import { indexWords } from '../../../server/lib/words.ts'
import { fileRow } from '../../support/store/files.ts'
import { describeSearch } from '../../support/store/searches.ts'
import { say } from '../../support/store/store-rows.ts'

const passage = (name: string, text: string, page: number) => ({
  ...{ heading: null, text, page },
  tokens: indexWords(`${name}\n${text}`).join(' '),
})

describeSearch('search in documents', (given) => {
  const { person, find, found } = given

  test('an attached file and a document are found with the page that contains the words', async () => {
    const { userId, conversation } = await person()
    const pages = Array.from(
      { length: 9 },
      (_, at) => `[Page ${at + 1}]\n${'正文很长。'.repeat(900)}`,
    )
    pages[6] += '\n第七页提到鲸鱼迁徙。'
    const text = pages.join('\n')
    const row = fileRow(userId, {
      ...{ name: 'report.pdf', mime: 'application/pdf', pages: 9 },
      ...{ characters: text.length, text },
    })
    await given.database.write((tx) => given.store.files.insert(tx, row))
    await say(given.database, conversation, 'Read this', null, { files: [row] })
    const project = await given.store.projects.create(userId, { name: 'Sea', description: null })
    const document = await given.store.documents.create({
      ...{ userId, projectId: project.id, name: '海洋 atlas.pdf' },
      ...{ mime: 'application/pdf', size: 1 },
    })
    await given.store.documents.index(document, [
      passage('海洋 atlas.pdf', 'Introduction', 1),
      passage('', '座头鲸鱼每年迁徙。', 7),
    ])
    for (const q of ['鲸鱼', '鲸'])
      expect(
        (await find(userId, q)).items.map(({ type, page }) => [type, page]).toSorted(),
        q,
      ).toEqual([
        ['document', 7],
        ['file', 7],
      ])
    expect((await find(userId, '鲸鱼', { type: 'file' })).items).toMatchObject([
      { message: { fileId: row.id }, conversationId: conversation },
    ])
    expect((await find(userId, '鲸鱼', { type: 'document' })).items).toMatchObject([
      {
        document: { id: document.id, position: 1 },
        title: '海洋 atlas.pdf',
        projectId: project.id,
      },
    ])
    expect(await found(userId, 'atlas')).toEqual(['海洋 atlas.pdf Introduction'])
    expect(await found(userId, '鲸鱼 in:sea')).toHaveLength(1)
    expect(await found((await person()).userId, '鲸鱼')).toEqual([])
    await given.store.documents.remove(project.id, document.id)
    expect(await found(userId, '鲸鱼', { type: 'document' })).toEqual([])
  })
})
