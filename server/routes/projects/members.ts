// Routes for the members of a project: list, add, change, remove, leave.
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ProjectId, type UserId } from '../../protocol/ids.ts'
import {
  GivenMember,
  Member,
  MemberBody,
  MemberListQuery,
  MemberPage,
} from '../../protocol/projects/member.ts'
import type { Services } from '../../services.ts'
import { changeMember } from '../../workspace/change-members.ts'
import { requireProject } from '../../workspace/open-project.ts'
import { deleted, presentPage, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50
const InProject = z.object({ id: ProjectId })
const OneMember = z.object({ id: ProjectId, principal: GivenMember })
const tags = ['projects']

/** `/api/projects/:id/members[/:principal]`. */
export function registerMemberRoutes(
  app: App,
  services: Pick<Services, 'store' | 'access' | 'authMode' | 'membership'>,
): void {
  const { store, access, authMode, membership } = services
  const assertAllowed = (userId: UserId): void => {
    if (authMode !== 'multi' || !access.allowsFeature(userId, 'sharing_projects'))
      throw appError('members_off')
  }

  app.get(
    '/api/projects/:id/members',
    {
      schema: {
        summary: 'List the members of a project: who stores it, then the others',
        description: 'Only on a server with accounts.',
        tags,
        params: InProject,
        querystring: MemberListQuery,
        response: { 200: envelope(MemberPage) },
      },
    },
    async ({ user, params, query }) => {
      assertAllowed(user.id)
      const project = await requireProject(store.projects, user.id, params.id, 'read')
      const page = await store.members.list(project, {
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success(presentPage(page, (member) => member))
    },
  )

  app.put(
    '/api/projects/:id/members/:principal',
    {
      schema: {
        summary: 'Add a member to a project, or change the role of one',
        description:
          '`principal`: `user:<id>`, `user:@<name>`, `group:<id>`, `group:@<name>` or `everyone`. Only owners can.',
        tags,
        params: OneMember,
        body: MemberBody,
        response: { 200: envelope(Member) },
      },
    },
    async (request) => {
      const { user, params, body } = request
      assertAllowed(user.id)
      const target = { userId: user.id, projectId: params.id, given: params.principal }
      const member = await changeMember(target, body.role, actorOf(request), membership)
      if (member === null) throw new Error('a member with a role is there')
      return success(member)
    },
  )

  app.delete(
    '/api/projects/:id/members/:principal',
    {
      schema: {
        summary: 'Remove a member from a project, or leave it',
        description:
          'Their conversations stay theirs, without the project; their runs in it stop. Everybody can remove themselves; only owners can remove others. 409 for the last owner.',
        tags,
        params: OneMember,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { user, params } = request
      assertAllowed(user.id)
      const target = { userId: user.id, projectId: params.id, given: params.principal }
      await changeMember(target, null, actorOf(request), membership)
      return deleted
    },
  )
}
