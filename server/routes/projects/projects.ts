// Routes for projects: list, create, get, update, delete.
import { z } from 'zod'
import {
  type ProjectRepository,
  type ProjectRow,
  settingsOf,
} from '../../db/repositories/projects/projects.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { Knowledge } from '../../knowledge/knowledge.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ProjectId, type UserId } from '../../protocol/ids.ts'
import {
  CreateProjectBody,
  Project,
  ProjectDetail,
  ProjectListQuery,
  ProjectPage,
  UpdateProjectBody,
} from '../../protocol/projects/project.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import { deleted, presentPage, success } from '../envelope.ts'
import { ownProject } from './own-project.ts'

/** The dependencies of the routes for projects. */
export interface ProjectRouteDependencies {
  projects: ProjectRepository
  services: WorkspaceServices
  /** @throws AppError when the model does not exist, or the user may not use it. */
  assertModel(userId: UserId, id: string): Promise<void>
  knowledge: Pick<Knowledge, 'removeProject'>
  /** Stops the runs that use the project. */
  stopRuns(projectId: ProjectId): Promise<void>
}

const DEFAULT_LIMIT = 50
const tags = ['projects']
const Params = z.object({ id: ProjectId })
const Detail = envelope(ProjectDetail)

/** `/api/projects` and `/api/projects/:id`. */
export function registerProjectRoutes(app: App, dependencies: ProjectRouteDependencies): void {
  registerList(app, dependencies)
  registerOne(app, dependencies)
}

/** Routes that list and create projects. */
function registerList(app: App, { projects, services }: ProjectRouteDependencies): void {
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
      return success(await presentDetail(row, services.workspaces.open(user.id, row.id)))
    },
  )
}

/** Routes that read, change and delete one project. */
function registerOne(app: App, dependencies: ProjectRouteDependencies): void {
  const { projects, services, knowledge, stopRuns, assertModel } = dependencies
  const { workspaces } = services
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
      const { row, workspace } = await ownProject(own, user.id, params.id)
      return success(await presentDetail(row, workspace))
    },
  )

  app.put(
    '/api/projects/:id',
    {
      schema: {
        summary: 'Update a project: its name, description, instructions, model, tools and memory',
        tags,
        params: Params,
        body: UpdateProjectBody,
        response: { 200: envelope(Project) },
      },
    },
    async ({ user, params, body }) => {
      if (body.model != null) await assertModel(user.id, body.model)
      const { name, description, ...settings } = body
      const row = await projects.update(user.id, params.id, { name, description, settings })
      if (row === undefined) throw appError('project_not_found')
      return success(presentProject(row))
    },
  )

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
      await ownProject(own, user.id, params.id)
      await services.checkpoints.removeProject(params.id, {
        stop: () => stopRuns(params.id),
        async remove() {
          await knowledge.removeProject(params.id)
          await projects.remove(user.id, params.id)
          await workspaces.remove(user.id, params.id)
          await projects.forgetRemoved(params.id)
        },
      })
      return deleted
    },
  )
}

const presentProject = (row: ProjectRow): Project => ({
  id: row.id,
  name: row.name,
  description: row.description,
  ...settingsOf(row),
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
})

/** A project with its statistics. */
export const presentDetail = async (row: ProjectRow, workspace: Workspace) => {
  const { files, directories, totalSize } = await workspace.stats()
  return { ...presentProject(row), stats: { files, directories, total_size: totalSize } }
}
