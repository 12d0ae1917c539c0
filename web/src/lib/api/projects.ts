// Projects: list, get, create, update, remove.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  Project,
  ProjectDetail,
  ProjectWithApprovers,
  UpdateProjectBody,
} from '../../../../server/protocol/projects/project.ts'
import type { ImportedProject } from '../../../../server/protocol/projects/project-import.ts'
import { saveFile } from '../browser/save-file.ts'
import { request, requestDone, send } from '../http/api-client.ts'
import { requestAll } from '../http/pages.ts'
import { uploadForm } from '../http/upload-form.ts'

/** The query keys of projects. */
export const projectKeys = {
  list: ['projects'] as const,
  one: (id: string) => ['project', id] as const,
}

/** All projects of the user. Sends no request while `enabled` is false. */
export const useProjects = (enabled = true) =>
  useQuery({
    queryKey: projectKeys.list,
    queryFn: ({ signal }) => requestAll<Project>('/api/projects', signal),
    enabled,
  })

/** False for a project of somebody else that the user may only use. Files of a conversation are in no list, and one's own. */
export function useMayChange(projectId: string | null): boolean {
  const client = useQueryClient()
  const listed = useProjects().data?.find(({ id }) => id === projectId)
  // The project's own page knows it before the list has loaded.
  const opened =
    projectId === null ? undefined : client.getQueryData<Project>(projectKeys.one(projectId))
  return (listed ?? opened)?.role !== 'use'
}

/** One project with its settings. */
export const useProject = (id: string) =>
  useQuery({
    queryKey: projectKeys.one(id),
    queryFn: ({ signal }) =>
      request<z.output<typeof ProjectDetail>>(`/api/projects/${id}`, { signal }),
    meta: { quiet: true },
  })

/** Creates an empty project. The dialog shows the error itself, for example when the name is taken. */
export function useCreateProject() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { name: string; description?: string }) =>
      request<Project>('/api/projects', { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.list }),
    meta: { quiet: true },
  })
}

/** Changes the name or settings of a project. Fields that are left out keep their values. */
export function useUpdateProject() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: { id: string } & z.input<typeof UpdateProjectBody>) =>
      request<ProjectWithApprovers>(`/api/projects/${id}`, { method: 'PUT', body }),
    onSuccess: (project) =>
      Promise.all([
        client.invalidateQueries({ queryKey: projectKeys.list }),
        client.invalidateQueries({ queryKey: projectKeys.one(project.id) }),
      ]),
  })
}

/** Makes the files of one conversation an ordinary project, and puts the conversation into it. */
export function useKeepProject() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, name }: { id: string; name: string }) =>
      request<Project>(`/api/projects/${id}/keep`, { method: 'POST', body: { name } }),
    onSuccess: ({ id }) =>
      Promise.all([
        client.invalidateQueries({ queryKey: projectKeys.list }),
        client.invalidateQueries({ queryKey: projectKeys.one(id) }),
        client.invalidateQueries({ queryKey: ['conversation'] }),
      ]),
  })
}

/** Makes a project of its own from the settings, files and documents of another one. */
export function useCopyProject() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, name }: { id: string; name: string }) =>
      request<Project>(`/api/projects/${id}/copy`, { method: 'POST', body: { name } }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.list }),
  })
}

/** Creates projects from an archive, or from assistants of other programs. The dialog shows the error itself. */
export function useImportProject() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (file: File) => {
      const form = new FormData()
      form.set('file', file)
      return uploadForm<z.output<typeof ImportedProject>>(
        '/api/projects/import',
        form,
        () => undefined,
      )
    },
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.list }),
    meta: { quiet: true },
  })
}

/** Uploads an image for the icon of a project. */
export const useUploadImage = () =>
  useMutation({
    mutationFn: (file: File) => {
      const form = new FormData()
      form.set('file', file)
      return uploadForm<{ id: string }>('/api/files', form, () => undefined)
    },
  })

/** Fetches a project with its files and documents, and starts a download of the archive. */
export async function downloadProject({ id, name }: Pick<Project, 'id' | 'name'>): Promise<void> {
  const response = await send(`/api/projects/${id}/bundle`)
  saveFile(await response.blob(), `${name}.zip`)
}

/** Removes a project, given its id, with its files, checkpoints and documents. */
export function useDeleteProject() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => requestDone(`/api/projects/${id}`, { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.list }),
  })
}
