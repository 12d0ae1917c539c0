// The menu that chooses the project of a conversation.
import { ChevronDown, FolderOpen, FolderPlus } from 'lucide-react'
import { useLocation } from 'wouter'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { useProjects } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Menu, MenuChoices, MenuHeading, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { nameWithIcon } from './project-icon.tsx'

const NO_PROJECT = 'none'

/** Used in the composer of the home page and in the header of a conversation. `projectId` null means no project. */
export function ProjectPicker({
  projectId,
  projectName,
  side,
  onChoose,
}: {
  projectId: ProjectId | null
  projectName: string | null
  side: 'top' | 'bottom'
  onChoose: (id: ProjectId | null) => void
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const { data: projects = [] } = useProjects()
  const name = projectName ?? projects.find(({ id }) => id === projectId)?.name
  return (
    <Menu
      side={side}
      trigger={
        <button
          type="button"
          aria-label={t('projects.pickerIs', { name: name ?? t('projects.none') })}
          className="inline-flex h-9 min-w-0 items-center justify-center gap-1.5 rounded-lg px-2 text-note font-medium text-soft hover:bg-hover hover:text-ink data-[state=open]:bg-hover pointer-coarse:min-w-11"
        >
          <FolderOpen size={15} aria-hidden className="shrink-0 text-muted" />
          {projectId !== null && (
            <span
              title={name}
              // Next to a title, a phone has no space for both.
              className={`max-w-36 truncate ${side === 'bottom' ? 'max-sm:hidden' : 'max-sm:max-w-20'}`}
            >
              {name}
            </span>
          )}
          <ChevronDown
            size={13}
            aria-hidden
            className={`shrink-0 text-muted ${projectId === null ? 'max-sm:hidden' : ''}`}
          />
        </button>
      }
    >
      <MenuHeading>{t('projects.picker')}</MenuHeading>
      <MenuChoices
        value={projectId ?? NO_PROJECT}
        choices={[
          { value: NO_PROJECT, label: t('projects.none') },
          ...projects.map((project) => ({ value: project.id, label: nameWithIcon(project) })),
        ]}
        onChoose={(value) => onChoose(projects.find(({ id }) => id === value)?.id ?? null)}
      />
      <MenuSeparator />
      <MenuItem icon={FolderPlus} onSelect={() => navigate(paths.newProject)}>
        {t('projects.new')}
      </MenuItem>
      <MenuItem icon={FolderOpen} onSelect={() => navigate(paths.projects)}>
        {t('projects.manage')}
      </MenuItem>
    </Menu>
  )
}
