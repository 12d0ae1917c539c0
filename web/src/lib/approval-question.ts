// The question of an approval request: what would happen, and to what.
import type { TFunction } from 'i18next'
import type { PendingApproval } from '../../../server/protocol/runs/run-event.ts'
import { visibleText } from '../../../server/protocol/runs/visible-text.ts'
import { fieldsOf, parseJson, textIn } from './read-json.ts'
import { toolTitle } from './tool-title.ts'

/** The most characters of an object in a question; the preview below shows all of it. */
const MAX_SHOWN = 80

/** In one line. Of a path, the end says most. */
function shorten(text: string, keepsEnd = false): string {
  const characters = [...visibleText(text.replace(/\s+/g, ' ').trim())]
  if (characters.length <= MAX_SHOWN) return characters.join('')
  return keepsEnd
    ? `…${characters.slice(1 - MAX_SHOWN).join('')}`
    : `${characters.slice(0, MAX_SHOWN - 1).join('')}…`
}

/** Whether a file would be new: it has no version yet, or its diff begins with nothing. */
const isNew = (preview: PendingApproval['preview']): boolean =>
  preview?.version === '' || /^@@ -0,0 /m.test(preview?.diff ?? '')

/** Names the action and its object ("Create the folder src?"); tools that are not known are asked for by name. */
export function approvalQuestion(approval: PendingApproval, t: TFunction): string {
  const { name, preview } = approval
  const fields = fieldsOf(parseJson(approval.arguments))
  const path = textIn(preview?.path) ?? textIn(preview?.display_params?.path) ?? textIn(fields.path)
  const byName = (): string => t('approval.allowTool', { tool: toolTitle(name, t) })
  const about = (
    action: 'create' | 'replace' | 'append' | 'edit' | 'folder' | 'delete' | 'command' | 'page',
    object: string | undefined,
    keepsEnd = true,
  ): string =>
    object === undefined || object.trim() === ''
      ? byName()
      : t(`approval.question.${action}`, { object: shorten(object, keepsEnd) })
  switch (name) {
    case 'file_write':
      return about(
        isNew(preview) ? 'create' : fields.mode === 'append' ? 'append' : 'replace',
        path,
      )
    case 'file_edit':
      return about('edit', path)
    case 'file_mkdir':
      return about('folder', path)
    case 'file_delete':
      return about('delete', path)
    case 'exec':
      return about('command', textIn(fields.command), false)
    case 'fetch_page':
      return about('page', textIn(fields.url), false)
    case 'execute_python':
      return t('approval.question.python')
    case 'generate_image':
      return t('approval.question.image')
    case 'save_memory':
      return t('approval.question.remember')
    case 'message': {
      const to = textIn(preview?.display_params?.to)
      return to === undefined
        ? t('approval.question.send')
        : t('approval.question.sendTo', { object: shorten(to) })
    }
    default:
      return byName()
  }
}
