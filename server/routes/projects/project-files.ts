// Routes for project files: list, read, download, write, rename, delete, search, find by name. Every change creates a checkpoint first.

import { basename, extname } from 'node:path'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import {
  ChangedPath,
  FileListing,
  FileMatches,
  FileText,
  FileWritten,
  FindFilesQuery,
  FoundFiles,
  MakeDirectoryBody,
  RenameFileBody,
  SearchFilesBody,
  WriteFileBody,
} from '../../protocol/projects/project.ts'
import type { Services } from '../../services.ts'
import type { ChangeOrigin } from '../../workspace/checkpoints/record-change.ts'
import type { FileState } from '../../workspace/files/entries.ts'
import { parsePath } from '../../workspace/files/paths.ts'
import { decodeText, encodeText, encodingLike } from '../../workspace/files/text.ts'
import { openProject } from '../../workspace/open-project.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { deleted, success } from '../envelope.ts'
import { presentDocument } from './documents.ts'

const tags = ['project files']
const PathText = z.string().max(8192)
const InProject = z.object({ id: ProjectId })
const OneFile = z.object({ id: ProjectId, '*': PathText })
const DEFAULT_RESULTS = 100
/** The projects that changed last, whose files are found by name, and the most results of all of them. */
const MAX_FOUND_PROJECTS = 20
const MAX_FOUND_FILES = 20
/** After this time, no other project is looked through. */
const FIND_MS = 1_500

/**
 * Images that a browser may render. All other files can only be downloaded, so that none can run as a page of this server.
 */
const DRAWABLE: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** The origin of a change that a person makes, not a run. */
const byHand = (tool: string): ChangeOrigin => ({ tool, messageId: null, runId: null })

/** `/api/projects/:id/files[/…]`, `/directories` and `/search`. */
export function registerProjectFileRoutes(
  app: App,
  services: Pick<Services, 'store' | 'workspace' | 'knowledge' | 'consents'>,
): void {
  registerReading(app, services)
  registerWriting(app, services)
  registerMoving(app, services)
  registerSearch(app, services)
  registerFinding(app, services)
}

/** Routes that list, read and download files. */
function registerReading(
  app: App,
  {
    store: { projects },
    workspace: services,
    knowledge,
  }: Pick<Services, 'store' | 'workspace' | 'knowledge'>,
): void {
  const { workspaces } = services
  const own = { projects, workspaces }

  app.get(
    '/api/projects/:id/files',
    {
      schema: {
        summary: 'List a folder',
        tags,
        params: InProject,
        querystring: z.object({ path: PathText.optional() }),
        response: { 200: envelope(FileListing) },
      },
    },
    async ({ user, params, query }) => {
      const { workspace } = await openProject(own, user.id, params.id, 'read')
      const found = await listing(workspace, query.path ?? '')
      const documents = new Map(
        (await knowledge.ofFiles(params.id)).map((row) => [row.path, presentDocument(row)]),
      )
      const files = found.files.map((file) => {
        const document = documents.get(file.path)
        return document === undefined ? file : { ...file, document }
      })
      return success({ ...found, files })
    },
  )

  app.get(
    '/api/projects/:id/files/*',
    {
      config: { large: true },
      schema: {
        summary: 'Read a text file; `?raw=1` downloads any file',
        tags,
        params: OneFile,
        querystring: z.object({
          raw: z.enum(['0', '1', 'true', 'false']).optional(),
          encoding: z
            .string()
            .max(40)
            .optional()
            .describe(
              'The encoding to decode the text with, such as `shift_jis`. Default: the one it is most likely in.',
            ),
        }),
        response: { 200: envelope(FileText) },
      },
    },
    async ({ user, params, query }, reply) => {
      const { workspace } = await openProject(own, user.id, params.id, 'read')
      const path = params['*']
      if (query.raw === '1' || query.raw === 'true') return download(workspace, path, reply)
      const { bytes, state } = await workspace.read(path)
      const { text, encoding } = decodeText(bytes, parsePath(path).text, query.encoding)
      reply.header('etag', `"${state.version}"`)
      return success({ ...presentFile(path, state), content: text, encoding: encoding.name })
    },
  )
}

/** Routes that write files. Every change creates a checkpoint first. */
function registerWriting(
  app: App,
  {
    store: { projects },
    workspace: services,
    consents,
  }: Pick<Services, 'store' | 'workspace' | 'consents'>,
): void {
  const { checkpoints, workspaces } = services
  const own = { projects, workspaces }

  app.put(
    '/api/projects/:id/files/*',
    {
      // The limit for a file plus the overhead of JSON escapes and the rest of the body.
      bodyLimit: Math.ceil(1.25 * workspaces.limits.fileWrite) + 64 * 1024,
      schema: {
        summary:
          'Write a text file, creating it and its folders if needed; `version` or `If-Match` rejects the write if the file has changed',
        tags,
        params: OneFile,
        body: WriteFileBody,
        headers: z.object({ 'if-match': z.string().max(500).optional() }),
        response: { 200: envelope(FileWritten) },
      },
    },
    async ({ user, params, body, headers }, reply) => {
      const { workspace } = await openProject(own, user.id, params.id, 'change')
      const path = params['*']
      const expected = body.version ?? headers['if-match']?.replace(/^(?:W\/)?"(.*)"$/, '$1')
      let bytes: Buffer = Buffer.alloc(0)
      const state = await checkpoints.change(
        workspace,
        byHand('editor_write'),
        [path],
        async () => {
          bytes = await encodedAsBefore(workspace, path, body)
          return await workspace.write(path, bytes, expected === undefined ? {} : { expected })
        },
      )
      const at = { userId: user.id, projectId: params.id }
      await consents.written(at, parsePath(path).text, bytes)
      reply.header('etag', `"${state.version}"`)
      return success(presentFile(path, state))
    },
  )
}

/** Routes that move and delete files and folders, and create folders. */
function registerMoving(
  app: App,
  { store: { projects }, workspace: services }: Pick<Services, 'store' | 'workspace'>,
): void {
  const { checkpoints, workspaces } = services
  const own = { projects, workspaces }

  app.patch(
    '/api/projects/:id/files/*',
    {
      schema: {
        summary: 'Rename or move a file or folder',
        tags,
        params: OneFile,
        body: RenameFileBody,
        response: { 200: envelope(ChangedPath) },
      },
    },
    async ({ user, params, body }) => {
      const { workspace } = await openProject(own, user.id, params.id, 'change')
      const from = params['*']
      await checkpoints.move(workspace, byHand('editor_rename'), from, body.new_path)
      return success({ path: parsePath(body.new_path).text })
    },
  )

  app.delete(
    '/api/projects/:id/files/*',
    {
      schema: {
        summary: 'Delete a file, or a folder and its content',
        tags,
        params: OneFile,
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      const { workspace } = await openProject(own, user.id, params.id, 'change')
      const path = params['*']
      await checkpoints.change(workspace, byHand('editor_delete'), [path], () =>
        workspace.remove(path),
      )
      return deleted
    },
  )

  app.post(
    '/api/projects/:id/directories',
    {
      schema: {
        summary: 'Create a folder',
        tags,
        params: InProject,
        body: MakeDirectoryBody,
        response: { 200: envelope(ChangedPath) },
      },
    },
    async ({ user, params, body }) => {
      const { workspace } = await openProject(own, user.id, params.id, 'change')
      const path = parsePath(body.path).text
      const made = await checkpoints.change(workspace, byHand('editor_mkdir'), [path], () =>
        workspace.createFolder(path),
      )
      if (!made) throw appError('folder_exists', { path })
      return success({ path })
    },
  )
}

/** The route that searches the text files of a project. */
function registerSearch(
  app: App,
  { store: { projects }, workspace: services }: Pick<Services, 'store' | 'workspace'>,
): void {
  const { search, workspaces } = services
  const own = { projects, workspaces }

  app.post(
    '/api/projects/:id/search',
    {
      schema: {
        summary: 'Search the text files of a project',
        tags,
        params: InProject,
        body: SearchFilesBody,
        response: { 200: envelope(FileMatches) },
      },
    },
    async ({ user, params, body }) => {
      const { workspace } = await openProject(own, user.id, params.id, 'read')
      const found = await search.grep(workspace, {
        pattern: body.query,
        fixed: true,
        caseSensitive: body.case_sensitive ?? false,
        path: body.path ?? '',
        maxResults: body.max_results ?? DEFAULT_RESULTS,
      })
      const results = new Map<string, { line: number; content: string }[]>()
      for (const { path, line, content } of found.matches)
        results.set(path, [...(results.get(path) ?? []), { line, content }])
      return success({
        query: body.query,
        results: [...results].map(([path, matches]) => ({ path, matches })),
        total_matches: found.matches.length,
        truncated: found.truncated,
      })
    },
  )
}

/** A pattern for file names that contain the text, whatever the case of its letters. */
const nameWith = (text: string): string =>
  `*${[...text]
    .map((one) => {
      const [lower, upper] = [one.toLowerCase(), one.toUpperCase()]
      if (lower !== upper && lower.length === 1 && upper.length === 1) return `[${lower}${upper}]`
      return /[*?[\]{},!^\\]/.test(one) ? '?' : one
    })
    .join('')}*`

/** The route that finds files of all projects by their names. */
function registerFinding(
  app: App,
  { store: { projects }, workspace: services }: Pick<Services, 'store' | 'workspace'>,
): void {
  const { search, workspaces } = services

  app.get(
    '/api/project-files',
    {
      schema: {
        summary: 'Find files of one or all projects by their names',
        tags,
        querystring: FindFilesQuery,
        response: { 200: envelope(FoundFiles) },
      },
    },
    async ({ user, query }) => {
      const words = query.q.toLowerCase().split(/\s+/)
      const pattern = nameWith(words.toSorted((a, b) => b.length - a.length)[0] ?? '')
      const until = Date.now() + FIND_MS
      const page =
        query.project_id === undefined
          ? await projects.list(user.id, { limit: MAX_FOUND_PROJECTS })
          : {
              items: [
                (await openProject({ projects, workspaces }, user.id, query.project_id, 'read'))
                  .row,
              ],
              hasMore: false,
            }
      const files: z.infer<typeof FoundFiles>['files'] = []
      let truncated = page.hasMore
      for (const { id, name, userId } of page.items) {
        if (files.length >= MAX_FOUND_FILES || Date.now() > until) {
          truncated = true
          break
        }
        const workspace = workspaces.open(userId, id)
        const found = await search.find(workspace, pattern, DEFAULT_RESULTS)
        truncated ||= found.truncated
        for (const path of found.paths) {
          const text = path.toLowerCase()
          if (words.every((word) => text.includes(word)))
            files.push({ project_id: id, project_name: name, path })
        }
      }
      truncated ||= files.length > MAX_FOUND_FILES
      return success({ files: files.slice(0, MAX_FOUND_FILES), truncated })
    },
  )
}

/** The text in the encoding that the request names, with a byte order mark if the file has one. */
async function encodedAsBefore(
  workspace: Workspace,
  path: string,
  { content, encoding: label }: z.output<typeof WriteFileBody>,
): Promise<Buffer> {
  if (label === undefined) return Buffer.from(content)
  const before = await workspace
    .read(path, workspace.limits.fileWrite)
    .then(({ bytes }) => bytes)
    .catch((error: unknown) => {
      if (error instanceof AppError) return null
      throw error
    })
  return encodeText(content, encodingLike(label, before), parsePath(path).text)
}

const presentFile = (input: string, state: FileState) => {
  const path = parsePath(input).text
  return {
    name: basename(path),
    path,
    size: state.size,
    extension: extname(path),
    version: state.version,
  }
}

async function listing(workspace: Workspace, input: string): Promise<z.output<typeof FileListing>> {
  const path = parsePath(input).text
  const entries = await workspace.list(path)
  const files = entries.filter(({ kind }) => kind === 'file')
  const directories = entries.filter(({ kind }) => kind === 'directory')
  return {
    current_path: path,
    files: files.map(({ name, path: inner, size }) => ({
      name,
      path: inner,
      size,
      extension: extname(name),
    })),
    directories: directories.map(({ name, path: inner }) => ({ name, path: inner })),
    total_files: files.length,
    total_dirs: directories.length,
  }
}

/** Sends a file as an attachment with an inactive content type, so that no browser renders it as a page. */
async function download(workspace: Workspace, input: string, reply: FastifyReply) {
  const { size, stream } = await workspace.download(input)
  const path = parsePath(input).text
  const name = encodeURIComponent(basename(path)).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return reply
    .header('content-type', DRAWABLE[extname(path).toLowerCase()] ?? 'application/octet-stream')
    .header('content-disposition', `attachment; filename*=UTF-8''${name}`)
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('content-length', size)
    .send(stream)
}
