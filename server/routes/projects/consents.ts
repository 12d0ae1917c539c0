// Routes for the consent of a user to what is written for models in a project: its skills and its AGENTS.md.
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import { ConsentBody, ConsentList } from '../../protocol/projects/skills.ts'
import type { Services } from '../../services.ts'
import { openProject } from '../../workspace/open-project.ts'
import { success } from '../envelope.ts'

const tags = ['skills']
const InProject = z.object({ id: ProjectId })

/** `/api/projects/:id/consent`. */
export function registerConsentRoutes(
  app: App,
  { store: { projects }, workspace, consents }: Pick<Services, 'store' | 'workspace' | 'consents'>,
): void {
  const own = { projects, workspaces: workspace.workspaces }

  app.get(
    '/api/projects/:id/consent',
    {
      config: { large: true },
      schema: {
        summary: 'List what waits for your consent in a project',
        description:
          'Skills of the project and its AGENTS.md reach no model until you have accepted exactly this version. Lists at most 20: the next ones come when these are decided.',
        tags,
        params: InProject,
        response: { 200: envelope(ConsentList) },
      },
    },
    async ({ user, params: { id } }) => {
      await openProject(own, user.id, id, 'read')
      return success({ items: await consents.waiting({ userId: user.id, projectId: id }) })
    },
  )

  app.post(
    '/api/projects/:id/consent',
    {
      config: { large: true },
      schema: {
        summary: 'Accept or refuse a version of a skill of a project, or of its AGENTS.md',
        description:
          'Answers with what still waits. 409 `content_changed` for another version than the current one.',
        tags,
        params: InProject,
        body: ConsentBody,
        response: { 200: envelope(ConsentList) },
      },
    },
    async ({ user, params: { id }, body }) => {
      await openProject(own, user.id, id, 'read')
      const at = { userId: user.id, projectId: id }
      await consents.decide(at, body)
      return success({ items: await consents.waiting(at) })
    },
  )
}
