// Routes for projects: list, create, get, update, delete.

import { z } from 'zod'
import type { Identity } from '../../auth/identity.ts'
import type { NamedApprover } from '../../db/repositories/projects/approvers.ts'
import {
  approvalByOf,
  type MemberProject,
  type ProjectRow,
  settingsOf,
} from '../../db/repositories/projects/projects.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import {
  CreateProjectBody,
  KeepProjectBody,
  type Project,
  ProjectDetail,
  ProjectListQuery,
  ProjectPage,
  ProjectWithApprovers,
  UpdateProjectBody,
} from '../../protocol/projects/project.ts'
import type { Services } from '../../services.ts'
import type { Consents } from '../../skills/consents.ts'
import { changeProject } from '../../workspace/change-project.ts'
import { openProject } from '../../workspace/open-project.ts'
import { removeProject } from '../../workspace/remove-project.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { deleted, presentPage, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50
const tags = ['projects']
const Params = z.object({ id: ProjectId })
const Detail = envelope(ProjectDetail)

type ProjectServices = Pick<
  Services,
  | 'store'
  | 'workspace'
  | 'consents'
  | 'offeredModels'
  | 'knowledge'
  | 'chat'
  | 'access'
  | 'authMode'
  | 'changes'
>

/** `/api/projects` and `/api/projects/:id`. */
export function registerProjectRoutes(app: App, services: ProjectServices): void {
  registerList(app, services)
  registerOne(app, services)
  registerRemoval(app, services)
}

/** Routes that list and create projects. */
function registerList(
  app: App,
  {
    store: { projects },
    workspace: services,
    consents,
  }: Pick<Services, 'store' | 'workspace' | 'consents'>,
): void {
  app.get(
    '/api/projects',
    {
      schema: {
        summary: 'List your projects, most recently changed first',
        tags,
        querystring: ProjectListQuery,
        response: { 200: envelope(ProjectPage) },
      },
    },
    async ({ user, query }) => {
      const page = await projects.list(user.id, {
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success({
        ...presentPage(page, presentProject),
        total: page.total,
      })
    },
  )

  app.post(
    '/api/projects',
    {
      schema: {
        summary: 'Create an empty project',
        tags,
        body: CreateProjectBody,
        response: { 200: Detail },
      },
    },
    async ({ user, body }) => {
      const row = await projects.create(user.id, {
        name: body.name,
        description: body.description ?? null,
      })
      return success(
        await presentDetail(
          ownBy(row, user),
          user,
          services.workspaces.open(user.id, row.id),
          [],
          consents,
        ),
      )
    },
  )
}

/** Routes that read and change one project. */
function registerOne(
  app: App,
  {
    store,
    workspace: { workspaces },
    offeredModels,
    access,
    consents,
    authMode,
    changes,
  }: ProjectServices,
): void {
  const { projects } = store
  const own = { projects, workspaces }

  app.get(
    '/api/projects/:id',
    {
      schema: {
        summary: 'Get a project with its statistics',
        tags,
        params: Params,
        response: { 200: Detail },
      },
    },
    async ({ user, params }) => {
      const { row, workspace } = await openProject(own, user.id, params.id, 'read')
      return success(
        await presentDetail(row, user, workspace, await store.approvers.list(row.id), consents),
      )
    },
  )

  app.put(
    '/api/projects/:id',
    {
      schema: {
        summary:
          'Update a project: its name, icon, description, and what its conversations begin with',
        description:
          '`approvers` and `approval_by` need a server with accounts; their changes are in the audit log.',
        tags,
        params: Params,
        body: UpdateProjectBody,
        response: { 200: envelope(ProjectWithApprovers) },
      },
    },
    async (request) => {
      const { user, params, body } = request
      // Who decides, and what is not asked, is the owners' choice, because it holds for the runs of all members.
      const decides = [body.approvers, body.approval_by, body.defaults?.approval]
      const needed = decides.every((one) => one === undefined) ? 'change' : 'own'
      const { row: before } = await openProject(own, user.id, params.id, needed)
      if (body.model != null) await offeredModels.assertOffered(user.id, body.model)
      if (body.defaults?.approval !== undefined)
        access.assertApprovalMode(user.id, body.defaults.approval)
      const { row, approvers } = await changeProject(
        { userId: user.id, storedBy: before.userId, id: params.id },
        { ...body, defaults: withApprovalOf(before, body.defaults) },
        actorOf(request),
        { store, hasAccounts: authMode === 'multi' },
      )
      const { role, ownerName } = before
      return success(presentWithApprovers({ ...row, role, ownerName }, approvers))
    },
  )

  app.post(
    '/api/projects/:id/keep',
    {
      schema: {
        summary: 'Make the files of one conversation an ordinary project',
        description:
          'The conversation is in the project from then on. 409 for a project that is not `scratch`.',
        tags,
        params: Params,
        body: KeepProjectBody,
        response: { 200: Detail },
      },
    },
    async ({ user, params, body }) => {
      const kept = await projects.keep(user.id, params.id, body.name)
      if (kept === undefined) throw appError('project_not_found')
      const { row, conversationId } = kept
      if (conversationId !== null)
        changes.publish(user.id, { type: 'conversation', id: conversationId, change: 'updated' })
      return success(
        await presentDetail(
          ownBy(row, user),
          user,
          workspaces.open(user.id, row.id),
          await store.approvers.list(row.id),
          consents,
        ),
      )
    },
  )
}

/** The route that deletes one project. */
function registerRemoval(
  app: App,
  { store, workspace: services, knowledge, chat, changes }: ProjectServices,
): void {
  const { workspaces } = services
  const { projects } = store
  const own = { projects, workspaces }

  app.delete(
    '/api/projects/:id',
    {
      schema: {
        summary: 'Delete a project with its files and checkpoints; keeps its conversations',
        tags,
        params: Params,
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      const { row } = await openProject(own, user.id, params.id, 'own')
      const people = await store.members.people(params.id)
      await removeProject(
        { projects, workspace: services, knowledge },
        { userId: row.userId, id: params.id },
        () => chat.stopProject(params.id),
      )
      for (const person of people)
        if (person !== user.id)
          changes.publish(person, { type: 'project', id: params.id, change: 'deleted' })
      return deleted
    },
  )
}

/** Defaults in which the approval mode that an owner has chosen stays, if somebody else changes the rest of them. */
const withApprovalOf = (before: MemberProject, defaults: UpdateProjectBody['defaults']) => {
  const { approval } = settingsOf(before).defaults
  return defaults === undefined || before.role === 'own' || approval === undefined
    ? defaults
    : { ...defaults, approval }
}

/** A project that the user has just made. */
export const ownBy = (row: ProjectRow, user: Pick<Identity, 'username'>): MemberProject => ({
  ...row,
  role: 'own',
  ownerName: user.username,
})

const presentProject = (row: MemberProject): Project => ({
  id: row.id,
  name: row.name,
  description: row.description,
  icon: row.icon,
  ...settingsOf(row),
  role: row.role,
  owner: { id: row.userId, name: row.ownerName },
  scratch: row.scratch,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
})

const presentWithApprovers = (
  row: MemberProject,
  approvers: NamedApprover[],
): ProjectWithApprovers => ({
  ...presentProject(row),
  approvers: approvers.map(({ principal }) => principal),
  approver_names: approvers.map(({ name }) => name),
  approval_by: approvalByOf(row),
})

/** A project with its statistics, for the user. @param approvers none for a new project. */
export const presentDetail = async (
  row: MemberProject,
  user: Pick<Identity, 'id'>,
  workspace: Workspace,
  approvers: NamedApprover[],
  consents: Pick<Consents, 'agentsMd'>,
) => {
  const { files, directories, totalSize } = await workspace.recentStats()
  return {
    ...presentWithApprovers(row, approvers),
    agents_md: (await consents.agentsMd({ userId: user.id, projectId: row.id })).info,
    stats: { files, directories, total_size: totalSize },
  }
}
