// The commands of the open conversation: share and export. Returns the dialog that one of them shows.
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useExport } from '../lib/api/sharing.ts'
import { useCommand } from '../lib/commands.ts'

const ShareDialog = lazy(() =>
  import('../features/conversations/share-dialog.tsx').then((module) => ({
    default: module.ShareDialog,
  })),
)

export function useConversationCommands(id: string): ReactNode {
  const [sharing, setSharing] = useState(false)
  const { mutate } = useExport()
  useCommand('share', () => setSharing(true))
  useCommand('exportMarkdown', () => mutate({ id, format: 'md' }))
  useCommand('exportHtml', () => mutate({ id, format: 'html' }))
  useCommand('exportJson', () => mutate({ id, format: 'json' }))
  if (!sharing) return null
  return (
    <Suspense fallback={null}>
      <ShareDialog id={id} onClose={() => setSharing(false)} />
    </Suspense>
  )
}
