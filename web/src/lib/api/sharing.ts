// Taking conversations elsewhere: export as a file.
import { useMutation } from '@tanstack/react-query'
import type { ExportFormat } from '../../../../server/protocol/export.ts'
import { send } from '../api-client.ts'
import { saveFile } from '../save-file.ts'

/** Exports a conversation and saves the file under the name that the server gives it. */
export const useExport = () =>
  useMutation({
    mutationFn: async ({ id, format }: { id: string; format: ExportFormat }) => {
      const response = await send(`/api/conversations/${id}/export`, { query: { format } })
      const name = /filename\*=UTF-8''([^;]+)/.exec(
        response.headers.get('content-disposition') ?? '',
      )?.[1]
      saveFile(
        await response.blob(),
        name === undefined ? `conversation.${format}` : decodeURIComponent(name),
      )
    },
  })
