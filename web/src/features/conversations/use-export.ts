// Exporting one conversation as a file.
import { useMutation } from '@tanstack/react-query'
import type { ExportFormat } from '../../../../server/protocol/conversations/export.ts'
import { exportConversation } from '../../lib/api/sharing.ts'
import { saveFile } from '../../lib/browser/save-file.ts'

/** Exports a conversation and saves the file. HTML gets what only a browser can add: diagrams, and times in the reader's zone. */
export const useExport = () =>
  useMutation({
    mutationFn: async ({ id, format }: { id: string; format: ExportFormat }) => {
      const { content, name } = await exportConversation(id, format)
      if (format !== 'html') return saveFile(content, name)
      const { completeHtml } = await import('./complete-html.ts')
      saveFile(await completeHtml(content), name)
    },
  })
