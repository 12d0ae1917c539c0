// Files dropped on a project's tree are written into it, text only, after a question.
import { type DragEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWriteFile } from '../../lib/api/files.ts'
import { filesOfDrop, type PathedFile } from '../../lib/upload.ts'
import { errorText } from '../../ui/error-text.ts'
import { notify } from '../../ui/toasts.ts'

const readText = async ({ file }: PathedFile): Promise<string | null> => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    return null
  }
}

export function useDropFiles(projectId: string) {
  const { t } = useTranslation()
  const write = useWriteFile(projectId)
  const [over, setOver] = useState(false)
  const [waiting, setWaiting] = useState<PathedFile[] | null>(null)
  const [done, setDone] = useState<{ count: number; total: number } | null>(null)

  const store = async (files: readonly PathedFile[]): Promise<void> => {
    const refused: string[] = []
    for (const [index, file] of files.entries()) {
      setDone({ count: index, total: files.length })
      const content = await readText(file)
      if (content === null) refused.push(file.path)
      else
        await write
          .mutateAsync({ path: file.path, content, version: null })
          .catch((error: unknown) => notify(`${file.path}: ${errorText(error)}`, 'error'))
    }
    setDone(null)
    if (refused.length > 0)
      notify(t('files.notText', { names: refused.slice(0, 5).join(', ') }), 'error')
  }
  return {
    over,
    status: done === null ? '' : t('files.adding', done),
    /** How many files wait for a yes; null when none do. */
    question: waiting?.length ?? null,
    cancel: () => setWaiting(null),
    confirm: () => {
      if (waiting !== null) void store(waiting)
      setWaiting(null)
    },
    handlers: {
      onDragOver: (event: DragEvent) => {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault()
        setOver(false)
        void filesOfDrop(event.dataTransfer).then((files) => {
          if (files.length > 0) setWaiting(files)
        })
      },
    },
  }
}
