// The dependencies of the routes of projects: their files, checkpoints, uploads and documents.
import type { RouteDependencies } from '../../../routes/index.ts'
import type { SharedRouteModules } from './modules.ts'

/** The dependencies of `routes/projects`. */
export const projectRoutes = ({
  config,
  store,
  assertModel,
  chat,
  files,
  tools,
  uploadSlots,
  workspace,
}: SharedRouteModules): Pick<RouteDependencies, 'projects' | 'documents'> => ({
  projects: {
    assertModel,
    projects: store.projects,
    services: workspace,
    uploadLimits: { bytes: config.limits.upload, files: config.limits.upload_files },
    uploadSlots,
    files,
    attachmentLimit: config.limits.attachments,
    knowledge: tools.knowledge,
    stopRuns: (id) => chat.stopProject(id),
  },
  documents: {
    knowledge: tools.knowledge,
    projects: store.projects,
    uploadSlots,
    fileLimit: config.limits.file_write,
  },
})
