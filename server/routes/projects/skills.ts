// Routes for skills: those that a user has in a project, the user's own, and the commands of the message field.

import { buffer } from 'node:stream/consumers'
import multipart from '@fastify/multipart'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { fieldsOfPrompt } from '../../protocol/accounts/prompt-fields.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ProjectId, type UserId } from '../../protocol/ids.ts'
import {
  type Command,
  CommandList,
  CreateSkillBody,
  SkillDetails,
  SkillFile,
  SkillFileQuery,
  SkillList,
  SkillSource,
  SkillsQuery,
  WriteSkillBody,
} from '../../protocol/projects/skills.ts'
import type { Services } from '../../services.ts'
import { SKILL_LIMITS } from '../../skills/found-skill.ts'
import { addProjectSkill } from '../../skills/project-skill.ts'
import { storeUploadedSkill, writeUserSkill } from '../../skills/uploaded-skill.ts'
import { openProject } from '../../workspace/open-project.ts'
import { deleted, success } from '../envelope.ts'
import { receiveFile } from '../files/receive-upload.ts'

const tags = ['skills']
const Name = z.string().min(1).max(255)
const OneSkill = z.object({ source: SkillSource, name: Name })
const OwnSkill = z.object({ name: Name })
const One = envelope(SkillDetails)
const AddQuery = z.object({
  project_id: ProjectId.optional().describe(
    'The project to add the skill to. Default: your own skills.',
  ),
})

type SkillServices = Pick<
  Services,
  'store' | 'workspace' | 'skills' | 'mcp' | 'uploadSlots' | 'now'
>

/** `/api/skills`, the routes below it, and `/api/commands`. */
export function registerSkillRoutes(app: App, services: SkillServices): void {
  registerReading(app, services)
  registerOwn(app, services)
  registerCommands(app, services)
}

/** The project of a request, if the user has it; null without one. @throws AppError `project_not_found`. */
async function projectOf(
  { store, workspace: { workspaces } }: Pick<Services, 'store' | 'workspace'>,
  userId: UserId,
  id: ProjectId | undefined,
): Promise<ProjectId | null> {
  if (id === undefined) return null
  return (await openProject({ projects: store.projects, workspaces }, userId, id, 'read')).row.id
}

/** Routes that list and read skills of all sources. */
function registerReading(app: App, services: SkillServices): void {
  const { skills } = services

  app.get(
    '/api/skills',
    {
      schema: {
        summary: 'List skills: of a project, your own, and of the server',
        description:
          'The first source wins for the same name. A skill of a project reaches no model until you have accepted its `sha256` (`POST /api/projects/{id}/consent`).',
        tags,
        querystring: SkillsQuery,
        response: { 200: envelope(SkillList) },
      },
    },
    async ({ user, query }) => {
      const projectId = await projectOf(services, user.id, query.project_id)
      return success({ items: await skills.list(user.id, projectId) })
    },
  )

  app.get(
    '/api/skills/:source/:name',
    {
      config: { large: true },
      schema: {
        summary: 'Get a skill with its instructions and the list of its files',
        tags,
        params: OneSkill,
        querystring: SkillsQuery,
        response: { 200: One },
      },
    },
    async ({ user, params: { source, name }, query }) => {
      const projectId = await projectOf(services, user.id, query.project_id)
      return success(await skills.get(user.id, projectId, source, name))
    },
  )

  app.get(
    '/api/skills/:source/:name/file',
    {
      config: { large: true },
      schema: {
        summary: 'Read a text file of a skill',
        tags,
        params: OneSkill,
        querystring: SkillFileQuery,
        response: { 200: envelope(SkillFile) },
      },
    },
    async ({ user, params, query: { project_id, path } }) => {
      const projectId = await projectOf(services, user.id, project_id)
      return success({ path, content: await skills.file(user.id, projectId, params, path) })
    },
  )
}

/** Routes that add skills, and change the user's own. */
function registerOwn(
  app: App,
  { store, workspace: services, skills, uploadSlots, now }: SkillServices,
): void {
  const shown = async (userId: UserId, name: string) =>
    success(await skills.get(userId, null, 'user', name))
  const own = { projects: store.projects, workspaces: services.workspaces }

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: { fields: 5, fieldSize: 1_000, files: 1, parts: 6, fileSize: SKILL_LIMITS.bytes + 1 },
    })
    scope.post(
      '/api/skills',
      {
        schema: {
          summary: 'Add a skill of your own or to a project, or replace the one with its name',
          description:
            'JSON with the text of a SKILL.md, or multipart with one `file`: a `SKILL.md`, or a ZIP archive (`.zip`, `.skill`) with a SKILL.md at its root or in its only folder. With `project_id`, it is unpacked into `.agents/skills/` of the project in one checkpoint, and needs the consent of each member.',
          tags,
          consumes: ['application/json', 'multipart/form-data'],
          querystring: AddQuery,
          body: CreateSkillBody,
          response: { 200: One },
        },
      },
      async (request) => {
        const { user, body, query } = request
        const projectId = query.project_id
        // Before the upload, which may take minutes, and after it.
        const opened = async (id: ProjectId) => await openProject(own, user.id, id, 'change')
        if (projectId !== undefined) await opened(projectId)
        const bytes =
          body?.content === undefined
            ? await receiveFile(request, uploadSlots, async (part) => {
                const read = await buffer(part.file)
                if (!part.file.truncated) return read
                throw appError('skill_too_large', {
                  files: SKILL_LIMITS.files,
                  size: '10 MB',
                  text: '200 KB',
                })
              })
            : Buffer.from(body.content)
        if (projectId !== undefined) {
          const { workspace } = await opened(projectId)
          const name = await addProjectSkill(bytes, workspace, { services, skills })
          return success(await skills.get(user.id, projectId, 'project', name))
        }
        return await shown(user.id, await storeUploadedSkill(user.id, bytes, { store, now }))
      },
    )
  })

  app.put(
    '/api/skills/user/:name',
    {
      schema: {
        summary: 'Write the SKILL.md of a skill of your own; its other files stay',
        tags,
        params: OwnSkill,
        body: WriteSkillBody,
        response: { 200: One },
      },
    },
    async ({ user, params: { name }, body }) => {
      await writeUserSkill(user.id, name, body.content, { store, now })
      return await shown(user.id, name)
    },
  )

  app.delete(
    '/api/skills/user/:name',
    {
      schema: {
        summary: 'Delete a skill of your own',
        tags,
        params: OwnSkill,
        response: { 200: Deleted },
      },
    },
    async ({ user, params: { name } }) => {
      if (!(await store.userSkills.remove(user.id, name))) throw appError('skill_not_found')
      return deleted
    },
  )
}

/** The route for what the message field lists after `/`. */
function registerCommands(app: App, services: SkillServices): void {
  const { store, skills, mcp } = services
  app.get(
    '/api/commands',
    {
      schema: {
        summary:
          'List what `/` offers in the message field: skills, saved prompts, prompts of MCP servers',
        tags,
        querystring: SkillsQuery,
        response: { 200: envelope(CommandList) },
      },
    },
    async ({ user, query }) => {
      const projectId = await projectOf(services, user.id, query.project_id)
      await mcp.prepare(user.id)
      const [active, { saved_prompts }, prompts] = await Promise.all([
        skills.active(user.id, projectId),
        store.settings.preferences(user.id),
        mcp.prompts(user.id),
      ])
      const items: Command[] = [
        ...active
          .filter(({ userInvocable }) => userInvocable)
          .map(({ name, description }) => ({
            name,
            kind: 'skill' as const,
            title: name,
            description,
            fields: [],
          })),
        ...saved_prompts.map(({ name, text }) => ({
          name,
          kind: 'prompt' as const,
          title: name,
          description: text.slice(0, 200),
          fields: fieldsOfPrompt(text),
        })),
        ...prompts.map((prompt) => ({
          name: `${prompt.server}:${prompt.name}`,
          kind: 'mcp' as const,
          title: prompt.title ?? prompt.name,
          description: prompt.description ?? '',
          fields: prompt.arguments.map(({ name }) => name),
        })),
      ]
      return success({ items })
    },
  )
}
