// The files that an answer has written and that can run as apps, each with a button that opens it beside the conversation.
import { AppWindow } from 'lucide-react'
import { use, useMemo } from 'react'
import { appKindOf } from '../../../../../server/protocol/app-kind.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import { openBeside } from '../../../lib/browser/open-beside.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { fieldsOf, parseJson, textIn } from '../../../lib/read-json.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { ConversationContext } from '../conversation-context.ts'

const WRITING: ReadonlySet<string> = new Set(['file_write', 'file_edit'])
/** More are in the panel of files. */
const MAX_SHOWN = 4

/** The paths of apps that successful calls have written, each once, in order. */
export function appsIn(steps: readonly Step[]): string[] {
  const done = new Set(
    steps.flatMap((step) =>
      step.type === 'tool_result' &&
      !step.skipped &&
      fieldsOf(parseJson(step.content)).success === true
        ? [step.id_ref]
        : [],
    ),
  )
  const paths = steps.flatMap((step) => {
    if (step.type !== 'tool_call' || !WRITING.has(step.name) || !done.has(step.id_ref)) return []
    const path = textIn(fieldsOf(parseJson(step.arguments)).path)
    const kind = path === undefined ? null : appKindOf(path)
    // Documents are read in the answer's card.
    return path === undefined || kind === null || kind === 'document' ? [] : [path]
  })
  return [...new Set(paths)]
}

/** Renders nothing outside of a project. */
export function AnswerApps({ steps }: { steps: readonly Step[] }) {
  const { t } = useTranslation()
  const { projectId } = use(ConversationContext)
  const paths = useMemo(() => (projectId === null ? [] : appsIn(steps)), [projectId, steps])
  if (paths.length === 0) return null
  return (
    <div className="flex flex-wrap gap-2">
      {paths.slice(-MAX_SHOWN).map((path) => (
        <Button key={path} icon={AppWindow} className="max-w-full" onClick={() => openBeside(path)}>
          <span className="truncate">
            {t('apps.open', { name: path.split('/').at(-1) ?? path })}
          </span>
        </Button>
      ))}
    </div>
  )
}
