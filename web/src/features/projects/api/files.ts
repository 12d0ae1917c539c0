// Requests for the files of a project: folders, contents, changes, search.
import {
  type QueryClient,
  useIsMutating,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { z } from 'zod'
import type { FilePreview } from '../../../../../server/protocol/projects/preview.ts'
import type {
  FileListing,
  FileMatches,
  FilesAdded,
} from '../../../../../server/protocol/projects/project.ts'
import { pollWhilePending } from '../../../lib/api/documents.ts'
import { saveFile } from '../../../lib/browser/save-file.ts'
import { ApiError, request, requestDone, send } from '../../../lib/http/api-client.ts'
import { type PathedFile, upload } from './upload.ts'

/** The query keys of files, by project. */
export const fileKeys = {
  all: ['project-files'] as const,
  folder: (projectId: string, path: string) =>
    ['project-files', projectId, 'folder', path] as const,
  content: (projectId: string, path: string) =>
    ['project-files', projectId, 'content', path] as const,
}

/** The URL of a file or of its preview; each segment of its path is escaped. */
const addressOf = (projectId: string, path: string, kind: 'files' | 'previews' = 'files'): string =>
  `/api/projects/${projectId}/${kind}/${path.split('/').map(encodeURIComponent).join('/')}`

type Listing = z.output<typeof FileListing>

const folderQuery = (projectId: string, path: string) => ({
  queryKey: fileKeys.folder(projectId, path),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<Listing>(`/api/projects/${projectId}/files`, { query: { path }, signal }),
  refetchInterval: ({ state }: { state: { data?: Listing | undefined } }) =>
    pollWhilePending((state.data?.files ?? []).flatMap(({ document = [] }) => document)),
  meta: { quiet: true },
})

/** The document that a file is; undefined if it is none, or not known yet. */
export function useDocumentOf(projectId: string, path: string) {
  const folder = path.split('/').slice(0, -1).join('/')
  const { data } = useQuery(folderQuery(projectId, folder))
  return data?.files.find((file) => file.path === path)?.document
}

/** The state of the requested folders, by path. */
export type Folders = {
  listings: ReadonlyMap<string, Listing>
  /** Folders that failed to load, with the error. */
  errors: ReadonlyMap<string, Error>
  /** Loads the folders again that failed to load. */
  retry: () => void
}

/** The entries of folders. Paths are relative to the project, empty for its root. */
export const useFolders = (projectId: string, paths: readonly string[]): Folders => {
  const queries = useQueries({
    queries: paths.map((path) => folderQuery(projectId, path)),
  })
  const listings = new Map<string, Listing>()
  const errors = new Map<string, Error>()
  for (const [at, path] of paths.entries()) {
    const query = queries[at]
    if (query?.data !== undefined) listings.set(path, query.data)
    else if (query?.error != null) errors.set(path, query.error)
  }
  const retry = (): void => {
    for (const query of queries) if (query.isError) void query.refetch()
  }
  return { listings, errors, retry }
}

/** A file's text and version. A later write with the version detects changes by others. */
export type FileContent = { content: string; version: string | null; encoding: string }

/**
 * The text of a file and its version, which later writes need. Fails for files that are not text. `encoding` decodes it; null
 * lets the server find the encoding.
 */
export const useFileContent = (projectId: string, path: string, encoding: string | null) =>
  useQuery({
    queryKey: [...fileKeys.content(projectId, path), encoding],
    queryFn: async ({ signal }): Promise<FileContent> => {
      const response = await send(addressOf(projectId, path), {
        ...(encoding === null ? {} : { query: { encoding } }),
        signal,
      })
      const body: { data: { content: string; encoding: string } } = await response.json()
      return {
        content: body.data.content,
        version: response.headers.get('etag'),
        encoding: body.data.encoding,
      }
    },
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: { quiet: true },
  })

/** A number that grows with every change to the files of a project. */
export const useFilesEdition = (projectId: string): number =>
  useQuery({
    // Asked again when the files may have changed, and only then.
    queryKey: ['project-files', projectId, 'edition'],
    queryFn: () => performance.now(),
    initialData: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    networkMode: 'always',
  }).data

/** A file's bytes, for showing an image or a PDF. */
export const useFileBytes = (projectId: string, path: string) =>
  useQuery({
    queryKey: [...fileKeys.content(projectId, path), 'bytes'],
    queryFn: async ({ signal }): Promise<Blob> => {
      const response = await send(addressOf(projectId, path), { query: { raw: 1 }, signal })
      return response.blob()
    },
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: { quiet: true },
  })

/** The content of an Office or PDF file for a preview, or why there is none. */
export const useDocumentPreview = (projectId: string, path: string) =>
  useQuery({
    queryKey: [...fileKeys.content(projectId, path), 'preview'],
    queryFn: ({ signal }) =>
      request<FilePreview>(addressOf(projectId, path, 'previews'), { signal }),
    refetchOnWindowFocus: false,
    meta: { quiet: true },
  })

const refreshed = (client: QueryClient) =>
  Promise.all([
    client.invalidateQueries({ queryKey: fileKeys.all, refetchType: 'active' }),
    client.invalidateQueries({ queryKey: ['checkpoints'] }),
    client.invalidateQueries({ queryKey: ['project'] }),
  ])

/** The version for writing a file that must not exist yet. */
export const MUST_NOT_EXIST = '""'

/** Stores a text. With a `version`, it fails with a conflict if the file has changed since. */
export function useWriteFile(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({
      path,
      content,
      version,
      encoding = 'utf-8',
    }: {
      path: string
      content: string
      /** The version to replace; null replaces any. */
      version: string | null
      /** The encoding that the file was read in; UTF-8 for a new one. */
      encoding?: string
    }): Promise<FileContent> => {
      const response = await send(addressOf(projectId, path), {
        method: 'PUT',
        body: { content, encoding },
        ...(version === null ? {} : { headers: { 'if-match': version } }),
      })
      return { content, version: response.headers.get('etag'), encoding }
    },
    onSuccess: () => refreshed(client),
    meta: { quiet: true },
  })
}

/**
 * Returns a function that tells whether an upload may replace files: whether the root of the project has an entry with the
 * name of one of the files or of its outermost folder.
 */
export function useMayReplace(projectId: string) {
  const client = useQueryClient()
  return async (files: readonly PathedFile[]): Promise<boolean> => {
    const query = { ...folderQuery(projectId, ''), staleTime: 0 }
    const { files: present, directories } = await client.fetchQuery(query)
    const names = new Set([...present, ...directories].map(({ name }) => name))
    return files.some(({ path }) => names.has(path.split('/', 1)[0] ?? ''))
  }
}

/** Uploads files of any type, all or none; see `upload`. */
export function useAddFiles(projectId: string) {
  const client = useQueryClient()
  return async (
    files: readonly PathedFile[],
    onProgress: (part: number) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    try {
      await upload<FilesAdded>(`/api/projects/${projectId}/files`, {}, files, onProgress, signal)
    } finally {
      // Also after a cancelled upload, because the cancellation may have come too late.
      await refreshed(client)
    }
  }
}

const leavingKey = (projectId: string) => ['leaving-file', projectId]

/**
 * Whether `error` says that a file is no longer there, for example because what has created it was undone. Not while the user
 * moves or deletes one here.
 */
export function useIsGone(projectId: string, error: Error | null): boolean {
  const isLeaving = useIsMutating({ mutationKey: leavingKey(projectId) }) > 0
  return error instanceof ApiError && error.status === 404 && !isLeaving
}

/** Renames a file or moves it to the path `to`. Fails if that path exists. */
export function useMoveFile(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationKey: leavingKey(projectId),
    mutationFn: ({ path, to }: { path: string; to: string }) =>
      requestDone(addressOf(projectId, path), { method: 'PATCH', body: { new_path: to } }),
    onSuccess: () => refreshed(client),
  })
}

/** Deletes the file at a path; a checkpoint can restore it. */
export function useDeleteFile(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationKey: leavingKey(projectId),
    mutationFn: (path: string) => requestDone(addressOf(projectId, path), { method: 'DELETE' }),
    onSuccess: () => refreshed(client),
  })
}

/** Creates an empty folder at a path. */
export function useCreateFolder(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (path: string) =>
      requestDone(`/api/projects/${projectId}/directories`, { method: 'POST', body: { path } }),
    onSuccess: () => refreshed(client),
  })
}

/** Up to 100 lines that contain `query`. Sends no request for an empty one. */
export const useFileSearch = (projectId: string, query: string) =>
  useQuery({
    queryKey: ['project-files', projectId, 'search', query],
    queryFn: ({ signal }) =>
      request<z.output<typeof FileMatches>>(`/api/projects/${projectId}/search`, {
        method: 'POST',
        body: { query, max_results: 100 },
        signal,
      }),
    enabled: query !== '',
    meta: { quiet: true },
  })

/** Fetches a file with the authorization header and starts a download of it. */
export async function downloadFile(projectId: string, path: string): Promise<void> {
  const response = await send(addressOf(projectId, path), { query: { raw: 1 } })
  saveFile(await response.blob(), path.split('/').at(-1) ?? 'file')
}
