// A project's files, history and documents, in a panel beside a chat or on a page of their own.
import { Tabs } from 'radix-ui'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CheckpointsPanel } from './checkpoints-panel.tsx'
import { DocumentsPanel } from './documents-panel.tsx'
import { FilesPanel, type OpenFile } from './files-panel.tsx'

const TABS = ['files', 'history', 'documents'] as const
type Tab = (typeof TABS)[number]

export function ProjectPanel({
  projectId,
  wide,
  initial = null,
}: {
  projectId: string
  wide: boolean
  /** The file to open first. */
  initial?: OpenFile | null
}) {
  const { t } = useTranslation()
  const [tab, setTab] = useState<Tab>('files')
  return (
    <Tabs.Root
      value={tab}
      onValueChange={(value) => setTab(TABS.find((one) => one === value) ?? 'files')}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Tabs.List
        aria-label={t('projects.title')}
        className="flex shrink-0 gap-1 border-b border-line px-3"
      >
        {TABS.map((name) => (
          <Tabs.Trigger
            key={name}
            value={name}
            className="-mb-px h-10 border-b-2 border-transparent px-2.5 text-[13.5px] text-soft -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {t(`projects.tab.${name}`)}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {/* Stays mounted while another tab is shown, with the open file and its unsaved text. */}
      <Tabs.Content
        value="files"
        forceMount
        className="flex min-h-0 flex-1 outline-none data-[state=inactive]:hidden"
      >
        <FilesPanel projectId={projectId} wide={wide} initial={initial} />
      </Tabs.Content>
      <Tabs.Content value="history" className="min-h-0 flex-1 overflow-y-auto outline-none">
        <CheckpointsPanel projectId={projectId} />
      </Tabs.Content>
      <Tabs.Content value="documents" className="min-h-0 flex-1 overflow-y-auto outline-none">
        <DocumentsPanel projectId={projectId} />
      </Tabs.Content>
    </Tabs.Root>
  )
}
