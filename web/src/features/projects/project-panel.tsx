// The tabs of a project: files and history, as a panel next to a chat; on the project's page also conversations and settings.
import { Tabs } from 'radix-ui'
import { useState } from 'react'
import { shownDirection } from '../../lib/i18n/direction.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { CheckpointsPanel } from './checkpoints-panel.tsx'
import { FilesPanel, type OpenPassage } from './files-panel.tsx'
import { ProjectConversations } from './project-conversations.tsx'
import { ProjectSettings } from './project-settings.tsx'
import type { OpenFile } from './use-open-file.ts'

const PANEL_TABS = ['files', 'history'] as const
const PAGE_TABS = ['files', 'conversations', 'history', 'settings'] as const
type Tab = (typeof PAGE_TABS)[number]

const scrollingClass = 'min-h-0 flex-1 overflow-y-auto outline-none'

/** `initial` or `initialPassage` is open at first: a file, or a passage of a document. */
export function ProjectPanel({
  projectId,
  wide,
  isOwn = false,
  initial = null,
  initialPassage = null,
}: {
  projectId: string
  /** Whether it is shown on the project's page. */
  wide: boolean
  /** Whether it has the files of one conversation, beside which it is shown. */
  isOwn?: boolean
  /** The file to open initially. */
  initial?: OpenFile | null
  /** The passage of a searchable file or document to open initially. */
  initialPassage?: OpenPassage | null
}) {
  const { t } = useTranslation()
  const tabs: readonly Tab[] = wide ? PAGE_TABS : PANEL_TABS
  const [tab, setTab] = useState<Tab>('files')
  return (
    <Tabs.Root
      dir={shownDirection()}
      value={tab}
      onValueChange={(value) => setTab(tabs.find((one) => one === value) ?? 'files')}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Tabs.List
        aria-label={t('projects.title')}
        className="flex shrink-0 gap-1 overflow-x-auto px-3 shadow-[inset_0_-1px_var(--line)] max-sm:gap-0 max-sm:px-1"
      >
        {tabs.map((name) => (
          <Tabs.Trigger
            key={name}
            value={name}
            className="h-10 shrink-0 border-b-2 border-transparent px-2.5 text-compact max-sm:grow max-sm:px-1.5 max-sm:text-note text-soft -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {t(`projects.tab.${name}`)}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {/* Stays mounted while another tab is shown, with the open file and its unsaved text. */}
      <Tabs.Content
        value="files"
        forceMount
        // The buttons inside take the focus.
        tabIndex={-1}
        className="flex min-h-0 flex-1 outline-none data-[state=inactive]:hidden"
      >
        <FilesPanel
          projectId={projectId}
          wide={wide}
          initial={initial}
          initialPassage={initialPassage}
        />
      </Tabs.Content>
      {wide && (
        <>
          <Tabs.Content value="conversations" className={scrollingClass}>
            <ProjectConversations projectId={projectId} />
          </Tabs.Content>
          <Tabs.Content value="settings" className={scrollingClass}>
            <ProjectSettings projectId={projectId} />
          </Tabs.Content>
        </>
      )}
      <Tabs.Content value="history" className={scrollingClass}>
        <CheckpointsPanel projectId={projectId} isOwn={isOwn} />
      </Tabs.Content>
    </Tabs.Root>
  )
}
