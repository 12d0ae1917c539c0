// Adds files that are too large for the context window to the project's documents, and tells the model where to read on.
import type { BranchMessage } from '../../agent/history.ts'
import { errorText } from '../../errors.ts'
import type { MessageId, ProjectId, UserId } from '../../protocol/ids.ts'
import { fileHandle } from '../../tools/long-results.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { Branch, CutFile } from './branch.ts'

type Loaded = Branch['messages'][number]

/**
 * Appends a note to each text that was cut.
 * @param tools the tools that the run may use.
 * @param documentOf the name of the project's document that contains the whole file; null if there is none. Called only if the
 * model can search the project's documents.
 */
export async function noteLargeFiles(
  messages: readonly Loaded[],
  tools: readonly { name: string }[],
  documentOf: (messageId: MessageId, cut: CutFile) => Promise<string | null>,
): Promise<(Loaded & BranchMessage)[]> {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name)
  const full: (Loaded & BranchMessage)[] = []
  for (const message of messages) {
    if (isWhole(message)) {
      full.push(message)
      continue
    }
    const attachments: BranchMessage['attachments'][number][] = []
    for (const file of message.attachments) {
      if (!('cut' in file)) {
        attachments.push(file)
        continue
      }
      const { cut, content, ...text } = file
      const document = has('search_knowledge') ? await documentOf(message.id, cut) : null
      const note = noteOf(content, cut, { document, readsOn: has('result_read') })
      attachments.push({ ...text, content: `${content}\n${note}` })
    }
    full.push({ ...message, attachments })
  }
  return full
}

const isWhole = (message: Loaded): boolean => message.attachments.every((file) => !('cut' in file))

/**
 * Makes a file that was cut a document of the project, once: after somebody deletes that document, it is not added again.
 * @param projectId null if files stay in their conversation.
 * @returns the name of the document that contains the whole file; null if there is none.
 */
export async function addDocument(
  { messageId, cut }: { messageId: MessageId; cut: CutFile },
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  {
    announce,
    database,
    store,
    files,
    documents,
    log,
  }: Pick<ChatDependencies, 'announce' | 'database' | 'store' | 'files' | 'documents' | 'log'>,
): Promise<string | null> {
  if (projectId === null || cut.fileId === null) return null
  if (cut.documentId !== null) return cut.documentProjectId === projectId ? cut.documentName : null
  try {
    // Others would see the file of a conversation that is not theirs.
    if (await store.members.isShared(projectId)) return null
    const [file] = await files.findAll(userId, [cut.fileId])
    if (file === undefined) return null
    const { id, name } = await documents.addStored(
      { userId, projectId },
      {
        name: cut.name,
        mime: file.mime,
        sha256: file.sha256,
        encoding: await files.encoding(userId, cut.fileId),
        open: () => files.open(file),
      },
    )
    await database.write((tx) => store.attachments.setDocument(tx, messageId, cut.position, id))
    announce(userId, { type: 'project', id: projectId, change: 'updated' })
    return name
  } catch (error) {
    // The model can still read on in the stored text, so the answer does not fail.
    log.warn(
      { file: cut.fileId, project: projectId, cause: errorText(error) },
      'a large file did not become a document of its project',
    )
    return null
  }
}

function noteOf(
  shown: string,
  { characters, stored, fileId, pages }: CutFile,
  { document, readsOn }: { document: string | null; readsOn: boolean },
): string {
  const mark = shown.slice(Math.max(0, shown.lastIndexOf('[Page ')))
  const page = /^\[Page (\d+)\]\n/.exec(mark)?.[1]
  const upTo = pages === null || page === undefined ? '' : `, up to page ${page} of ${pages}`
  const ways: string[] = []
  if (document !== null)
    ways.push(
      `The whole file is a document of the project, ${JSON.stringify(document)}: search_knowledge finds passages in it, with their pages.`,
    )
  if (readsOn && fileId !== null)
    ways.push(
      `To read on${stored < characters ? ` up to character ${stored}` : ''}, call result_read with the handle "${fileHandle(fileId)}" and the offset ${shown.length}.`,
    )
  if (ways.length === 0) ways.push('Tell the user so.')
  return `[This file is too large for the context window: only the first ${shown.length} of ${characters} characters are shown${upTo}. ${ways.join(' ')}]`
}
