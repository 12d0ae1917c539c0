// Groups of accounts, their restrictions and their members, for administrators.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import type {
  CreateGroupBody,
  Group,
  PatchGroupBody,
} from '../../../../server/protocol/admin/group.ts'
import { request, requestDone } from '../http/api-client.ts'
import { requestAll, usePages } from '../http/pages.ts'
import { usersKey } from './admin.ts'

const groupsKey = ['admin-groups'] as const
/** The query key of `useGroupMembers`. */
export const membersKey = (id: string) => ['admin-group-members', id] as const

/** All groups. */
export const useGroups = () =>
  useQuery({
    queryKey: groupsKey,
    queryFn: ({ signal }) => requestAll<Group>('/api/admin/groups', signal),
    meta: { quiet: true },
  })

/** Creates a group without members. */
export function useCreateGroup() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: z.input<typeof CreateGroupBody>) =>
      request<Group>('/api/admin/groups', { method: 'POST', body }),
    onSettled: () => client.invalidateQueries({ queryKey: groupsKey }),
    meta: { quiet: true },
  })
}

/** Changes a group. Fields that are left out keep their values. */
export function usePatchGroup(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: z.input<typeof PatchGroupBody>) =>
      request<Group>(`/api/admin/groups/${id}`, { method: 'PATCH', body }),
    onSettled: () => client.invalidateQueries({ queryKey: groupsKey }),
  })
}

/** Removes a group, given its id. The members keep their accounts; its restrictions no longer apply to them. */
export function useDeleteGroup() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => requestDone(`/api/admin/groups/${id}`, { method: 'DELETE' }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: groupsKey }),
        client.invalidateQueries({ queryKey: usersKey }),
      ]),
  })
}

/** The members of a group, page by page. */
export const useGroupMembers = (id: string) =>
  usePages<User>(membersKey(id), `/api/admin/groups/${id}/members`, {})

/** Adds an account to the group, or removes it when `add` is false. */
export function useChangeMember(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ userId, add }: { userId: string; add: boolean }) =>
      requestDone(`/api/admin/groups/${id}/members/${userId}`, { method: add ? 'PUT' : 'DELETE' }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: membersKey(id) }),
        client.invalidateQueries({ queryKey: groupsKey }),
        client.invalidateQueries({ queryKey: usersKey }),
      ]),
  })
}
