// Hook that registers the commands of the open conversation: share and export.
import { showDialog } from '../features/conversations/shown-dialog.ts'
import { useExport } from '../features/conversations/use-export.ts'
import { useCommand } from '../lib/commands.ts'

/** Registers the commands while the caller is mounted. `id` is the conversation. */
export function useConversationCommands(id: string): void {
  const { mutate } = useExport()
  useCommand('share', () => showDialog('share', id))
  useCommand('exportMarkdown', () => mutate({ id, format: 'md' }))
  useCommand('exportHtml', () => mutate({ id, format: 'html' }))
  useCommand('exportJson', () => mutate({ id, format: 'json' }))
}
