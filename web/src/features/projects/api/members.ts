// The members of a project: list, add, change, remove, leave.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Member, ProjectRole } from '../../../../../server/protocol/projects/member.ts'
import { projectKeys } from '../../../lib/api/projects.ts'
import { request, requestDone } from '../../../lib/http/api-client.ts'
import { requestAll } from '../../../lib/http/pages.ts'

const membersKey = (id: string) => [...projectKeys.one(id), 'members'] as const
const pathOf = (id: string, principal: string): string =>
  `/api/projects/${id}/members/${encodeURIComponent(principal)}`

/** All members of a project, the account that stores it first. */
export const useMembers = (id: string) =>
  useQuery({
    queryKey: membersKey(id),
    queryFn: ({ signal }) => requestAll<Member>(`/api/projects/${id}/members`, signal),
  })

/** Adds a member by id or name, or changes the role of one. */
export function useSetMember(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ principal, role }: { principal: string; role: ProjectRole }) =>
      request<Member>(pathOf(id, principal), { method: 'PUT', body: { role } }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.one(id) }),
  })
}

/** Removes another member. */
export function useRemoveMember(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (principal: string) => requestDone(pathOf(id, principal), { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: membersKey(id) }),
  })
}

/** Removes the user, who no longer finds the project afterwards. */
export function useLeaveProject(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (principal: string) => requestDone(pathOf(id, principal), { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.list }),
  })
}
