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

type Action = 'create' | 'replace' | 'append' | 'edit' | 'folder' | 'delete' | 'command' | 'page'

/** What a question names, and whether its end says most, as of a path. */
interface Subject {
  action: Action
  object: string
  keepsEnd: boolean
}

/** The subject of a call whose question names more than the tool. */
function subjectOf({ name, preview, arguments: sent }: PendingApproval): Subject | undefined {
  const fields = fieldsOf(parseJson(sent))
  const path = textIn(preview?.path) ?? textIn(preview?.display_params?.path) ?? textIn(fields.path)
  const about = (action: Action, object: string | undefined, keepsEnd = true) =>
    object === undefined || object.trim() === '' ? undefined : { action, object, keepsEnd }
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
    default:
      return undefined
  }
}

/** Whether the question of a request already says `detail`, the short form of its arguments. */
export function questionSays(approval: PendingApproval, detail: string): boolean {
  const object = subjectOf(approval)?.object
  return object !== undefined && visibleText(object.replace(/\s+/g, ' ').trim()).startsWith(detail)
}

/** Whether the question of a request names all of its object, as the path of a file. */
export function questionNames(approval: PendingApproval): boolean {
  const object = subjectOf(approval)?.object
  return object !== undefined && !shorten(object).includes('…')
}

/** Names the action and its object ("Create the folder src?"); tools that are not known are asked for by name. */
export function approvalQuestion(approval: PendingApproval, t: TFunction): string {
  const { name, preview } = approval
  const subject = subjectOf(approval)
  if (subject !== undefined)
    return t(`approval.question.${subject.action}`, {
      object: shorten(subject.object, subject.keepsEnd),
    })
  switch (name) {
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
      return t('approval.allowTool', { tool: toolTitle(name, t) })
  }
}
