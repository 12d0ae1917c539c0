// The start page: a new chat, in a project when the address names one.
import type { ReactNode } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { NewChat } from '../features/chat/new-chat.tsx'
import { ProjectPicker } from '../features/projects/project-picker.tsx'
import { DemoNotice } from '../features/setup/demo-notice.tsx'
import { useProjects } from '../lib/api/projects.ts'
import { paths } from '../lib/paths.ts'

export function HomePage({ menu, admin }: { menu: ReactNode; admin: boolean }) {
  const [, navigate] = useLocation()
  const [search] = useSearchParams()
  const { data } = useProjects()
  const wanted = search.get('project')
  const project = data?.items.find(({ id }) => id === wanted) ?? null
  return (
    <>
      {menu !== null && <div className="flex h-13 shrink-0 items-center px-3">{menu}</div>}
      <NewChat
        projectId={project?.id ?? null}
        projectPicker={
          <ProjectPicker
            projectId={project?.id ?? null}
            projectName={project?.name ?? null}
            side="top"
            onChoose={(id) => navigate(id === null ? paths.home : paths.homeIn(id))}
          />
        }
        notice={<DemoNotice canAdd={admin} />}
      />
    </>
  )
}
