// Groups of accounts, their restrictions and their members, for administrators.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import type {
  CreateGroupBody,
  Group,
  PatchGroupBody,
} from '../../../../server/protocol/admin/group.ts'
import { ApiError, request, requestDone } from '../http/api-client.ts'
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

/** Accounts to add to a group and to remove from it, by id. */
interface MemberChanges {
  add: readonly string[]
  remove: readonly string[]
}

/** Changes a group, then its members. Fields that are left out keep their values. */
export function useSaveGroup(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({
      members: { add, remove },
      ...body
    }: z.input<typeof PatchGroupBody> & { members: MemberChanges }) => {
      const path = `/api/admin/groups/${id}`
      await request<Group>(path, { method: 'PATCH', body })
      for (const userId of add) await requestDone(`${path}/members/${userId}`, { method: 'PUT' })
      for (const userId of remove)
        await requestDone(`${path}/members/${userId}`, { method: 'DELETE' }).catch(
          (error: unknown) => {
            // Somebody else removed them: that is what was wanted.
            if (!(error instanceof ApiError && error.reason === 'group_member_not_found'))
              throw error
          },
        )
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: membersKey(id) }),
        client.invalidateQueries({ queryKey: groupsKey }),
        client.invalidateQueries({ queryKey: usersKey }),
      ]),
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
