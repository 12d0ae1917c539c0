// The files that an answer brings to a chat: images it made, what programs left in the folder output, project files that it links.
import { buffer } from 'node:stream/consumers'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { FileService } from '../files/files.ts'
import { mimeOf } from '../lib/mime-of.ts'
import type { FileId, ProjectId, UserId } from '../protocol/ids.ts'
import { openProject } from '../workspace/open-project.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

/** A larger file is named with a link instead. */
const MAX_SENT_BYTES = 20 * 1024 * 1024
/** Files of one answer. */
const MAX_FILES = 10
const OUTPUT = 'output/'

/** A file where it is stored; it is read when its turn comes to be sent. */
export interface AnswerFile {
  name: string
  mime: string
  from: { fileId: FileId } | { projectId: ProjectId; path: string }
}

/** The files of answers. */
export interface AnswerFiles {
  /** The files of an answer with this text, in the order in which they were made. */
  of(run: RunRow, answer: string): Promise<AnswerFile[]>
  /** The content; `too_large` beyond `MAX_SENT_BYTES`, null if it is gone. */
  read(userId: UserId, from: AnswerFile['from']): Promise<Buffer | 'too_large' | null>
}

/** Create one per process. */
export const createAnswerFiles = ({
  store,
  files,
  workspaces,
}: {
  store: Pick<Store, 'attachments' | 'conversations' | 'ledger' | 'projects'>
  files: Pick<FileService, 'find' | 'open'>
  workspaces: Pick<Workspaces, 'open'>
}): AnswerFiles => ({
  async of(run, answer) {
    const made = await store.attachments.files(run.messageId)
    const found: AnswerFile[] = made.map(({ fileId, name, mime }) => ({
      name,
      mime: mime ?? mimeOf(name),
      from: { fileId },
    }))
    const conversation = await store.conversations.find(run.userId, run.conversationId)
    const projectId = conversation?.projectId ?? conversation?.scratchProjectId ?? null
    if (projectId !== null)
      for (const path of await pathsOf(run, answer, { store, workspaces, projectId }))
        found.push({
          name: path.slice(path.lastIndexOf('/') + 1),
          mime: mimeOf(path),
          from: { projectId, path },
        })
    return found.slice(0, MAX_FILES)
  },

  async read(userId, from) {
    try {
      if ('fileId' in from) {
        const row = await files.find(userId, from.fileId)
        if (row === undefined) return null
        return row.size > MAX_SENT_BYTES ? 'too_large' : await buffer(await files.open(row))
      }
      const place = { projects: store.projects, workspaces }
      const { workspace } = await openProject(place, userId, from.projectId, 'read')
      const { size, stream } = await workspace.download(from.path)
      if (size <= MAX_SENT_BYTES) return await buffer(stream)
      stream.destroy()
      return 'too_large'
    } catch (error) {
      // It was removed or replaced by a folder meanwhile.
      if (error instanceof AppError && error.status < 500) return null
      throw error
    }
  },
})

/** The paths that the answer links, and what it wrote into the folder output, as far as there are such files. */
async function pathsOf(
  run: RunRow,
  answer: string,
  {
    store,
    workspaces,
    projectId,
  }: {
    store: Pick<Store, 'ledger' | 'projects'>
    workspaces: Pick<Workspaces, 'open'>
    projectId: ProjectId
  },
): Promise<string[]> {
  const changed = (await store.ledger.changes(run.messageId))
    .filter(({ path, change }) => change !== 'deleted' && path.startsWith(OUTPUT))
    .map(({ path }) => path)
  const project = await store.projects.find(run.userId, projectId)
  if (project === undefined) return []
  const workspace = workspaces.open(project.userId, projectId)
  const paths: string[] = []
  for (const path of new Set([...changed, ...linked(answer)])) {
    if (paths.length === MAX_FILES) break
    const state = await workspace.state(path).catch((error: unknown) => {
      // The model wrote the link: it may be anything.
      if (error instanceof AppError && error.status < 500) return null
      throw error
    })
    if (state?.kind === 'file') paths.push(path)
  }
  return paths
}

const MAX_LINKS = 50

/** The relative targets of the links of an answer. */
function linked(answer: string): string[] {
  const targets: string[] = []
  for (const [, target = ''] of answer.matchAll(/\]\(<?([^\s()<>]{1,500})>?\)/g)) {
    if (targets.length === MAX_LINKS) break
    if (/^([a-z][a-z0-9+.-]*:|\/|#)/i.test(target)) continue
    try {
      targets.push(decodeURIComponent(target).replace(/^\.\//, ''))
    } catch {
      // No valid address, so no path.
    }
  }
  return targets
}
