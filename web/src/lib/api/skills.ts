// Skills: their list, what `/` offers of them, and the consent to those of a project.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  Command,
  ConsentBody,
  ConsentItem,
  Skill,
} from '../../../../server/protocol/projects/skills.ts'
import { request, requestDone } from '../http/api-client.ts'
import { projectKeys } from './projects.ts'

const keys = {
  all: ['skills'] as const,
  list: (projectId: string | null) => ['skills', 'list', projectId] as const,
  commands: (projectId: string | null) => ['skills', 'commands', projectId] as const,
  consent: (projectId: string) => ['skills', 'consent', projectId] as const,
}
/** The keys of what may differ once a file of the project has changed. */
export const skillKeys = (projectId: string): (readonly unknown[])[] => [
  keys.list(projectId),
  keys.commands(projectId),
  keys.consent(projectId),
]
const inProject = (projectId: string | null): string =>
  projectId === null ? '' : `?project_id=${encodeURIComponent(projectId)}`

/** The names of the skills that `/` offered last in each project; `null`: without one. */
const offered = new Map<string | null, ReadonlySet<string>>()
/** A message names at most this many skills. */
const MAX_SKILLS = 5

/** The skills of a user, in a project if it is not null. */
export const useSkills = (projectId: string | null) =>
  useQuery({
    queryKey: keys.list(projectId),
    queryFn: ({ signal }) =>
      request<{ items: Skill[] }>(`/api/skills${inProject(projectId)}`, { signal }).then(
        ({ items }) => items,
      ),
  })

/** The skills that people can choose for a message. */
export const useSkillCommands = (projectId: string | null, enabled = true) =>
  useQuery({
    queryKey: keys.commands(projectId),
    enabled,
    queryFn: async ({ signal }) => {
      const { items } = await request<{ items: Command[] }>(
        `/api/commands${inProject(projectId)}`,
        { signal },
      )
      const skills = items.filter(({ kind }) => kind === 'skill')
      offered.set(projectId, new Set(skills.map(({ name }) => name)))
      return skills
    },
    staleTime: 30_000,
    meta: { quiet: true },
  })

/** The skills of a place that a message begins with, each written as `/name`. Those of other projects are only text there. */
export function skillsIn(text: string, projectId: string | null): string[] {
  const names: string[] = []
  for (const word of text.trimStart().split(/\s+/)) {
    const name = word.slice(1)
    if (
      !word.startsWith('/') ||
      offered.get(projectId)?.has(name) !== true ||
      names.length >= MAX_SKILLS
    )
      break
    if (!names.includes(name)) names.push(name)
  }
  return names
}

/** What waits for the consent of the user in a project. */
export const useConsent = (projectId: string) =>
  useQuery({
    queryKey: keys.consent(projectId),
    queryFn: ({ signal }) =>
      request<{ items: ConsentItem[] }>(`/api/projects/${projectId}/consent`, { signal }).then(
        ({ items }) => items,
      ),
    meta: { quiet: true },
  })

/** Accepts or refuses one version. Whatever the server answers, what waits is read again. */
export function useDecideConsent(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: z.input<typeof ConsentBody>) =>
      request(`/api/projects/${projectId}/consent`, { method: 'POST', body }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: keys.all }),
        client.invalidateQueries({ queryKey: projectKeys.one(projectId) }),
      ]),
  })
}

/** Adds a skill from a `SKILL.md` or an archive, to the user's own or to a project. */
export function useAddSkill(projectId: string | null) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (file: File) => {
      const form = new FormData()
      form.set('file', file)
      return request(`/api/skills${inProject(projectId)}`, { method: 'POST', body: form })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.all }),
  })
}

interface SkillToDelete {
  skill: Pick<Skill, 'name' | 'path'>
  projectId: string | null
}

/** Deletes a skill of the user; with a project, the one among its files. */
export function useDeleteSkill() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ skill: { name, path }, projectId }: SkillToDelete) =>
      requestDone(
        projectId === null || path === undefined
          ? `/api/skills/user/${encodeURIComponent(name)}`
          : `/api/projects/${projectId}/files/${path.split('/').map(encodeURIComponent).join('/')}`,
        { method: 'DELETE' },
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.all }),
  })
}
