// The home page: a new chat, in a project if the URL names one.
import type { ReactNode } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { ProjectId } from '../../../server/protocol/ids.ts'
import type { Project } from '../../../server/protocol/projects/project.ts'
import { NewChat } from '../features/chat/new-chat.tsx'
import { nameWithIcon } from '../features/projects/project-icon.tsx'
import { ProjectPicker } from '../features/projects/project-picker.tsx'
import { DemoNotice } from '../features/setup/demo-notice.tsx'
import { useProjects } from '../lib/api/projects.ts'
import { paths } from '../lib/paths.ts'
import { lazyPart } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'

const ProjectOverview = lazyPart(() =>
  import('../features/projects/project-overview.tsx').then((module) => module.ProjectOverview),
)

const ConsentLine = lazyPart(() =>
  import('../features/projects/consent-line.tsx').then((module) => module.ConsentLine),
)

/**
 * The project that the URL names. The id is accepted while the list loads: otherwise an early message would land outside
 * the project. The server checks the id anyway.
 */
function projectOf(
  requestedId: string | null,
  projects: readonly Project[] | undefined,
): Pick<Project, 'id' | 'name' | 'model' | 'icon' | 'starters'> | null {
  if (requestedId === null) return null
  // An id is a plain string on the wire.
  if (projects === undefined)
    return { id: requestedId as ProjectId, name: '…', model: null, icon: null, starters: [] }
  return projects.find(({ id }) => id === requestedId) ?? null
}

/** The icon and the name of a project that has an icon or starters; undefined for others, which are greeted as ever. */
function headingOf(project: Pick<Project, 'name' | 'icon' | 'starters'>) {
  return project.icon === null && project.starters.length === 0 ? undefined : nameWithIcon(project)
}

/** The page at `/`; `?project=` names a project. `admin`: whether the user is an administrator and can set up models. */
export function HomePage({
  menu,
  loadChat,
  admin,
}: {
  menu: ReactNode
  /** Loads the code of the page of a conversation. */
  loadChat: () => Promise<void>
  admin: boolean
}) {
  const [, navigate] = useLocation()
  const [search] = useSearchParams()
  const { data } = useProjects()
  const project = projectOf(search.get('project'), data)
  return (
    <NewChat
      menu={menu}
      loadChat={loadChat}
      projectId={project?.id ?? null}
      projectModel={project?.model ?? null}
      heading={project === null ? undefined : headingOf(project)}
      starters={project?.starters ?? []}
      projectPicker={
        <ProjectPicker
          projectId={project?.id ?? null}
          projectName={project?.name ?? null}
          side="top"
          onChoose={(id) => navigate(id === null ? paths.home : paths.homeIn(id))}
        />
      }
      notice={<DemoNotice canAdd={admin} />}
      waiting={
        project === null ? undefined : (
          <PartBoundary key={project.id} fallback={null}>
            <ConsentLine projectId={project.id} isBox />
          </PartBoundary>
        )
      }
      below={
        project === null ? undefined : (
          <PartBoundary key={project.id} fallback={null}>
            <ProjectOverview projectId={project.id} />
          </PartBoundary>
        )
      }
    />
  )
}
