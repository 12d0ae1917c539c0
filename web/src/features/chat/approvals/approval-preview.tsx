// The preview of a tool call that needs approval: warning, diff or command, and arguments.
import { TriangleAlert } from 'lucide-react'
import type { PendingApproval } from '../../../../../server/protocol/runs/run-event.ts'
import { questionNames } from '../../../lib/approval-question.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { prettyVisible } from '../steps/tool-content.ts'

const CodeBlock = lazyPart(() =>
  import('../../../ui/markdown/code-block.tsx').then((module) => module.CodeBlock),
)
const DiffView = lazyPart(() =>
  import('../../../ui/code/diff-view.tsx').then((module) => module.DiffView),
)

/** Loads the code of all previews. Never rejects: a preview whose code is missing loads it again. */
export const loadPreviews = () => Promise.all([CodeBlock.preload(), DiffView.preload()])

const WARNING_CODES = ['not_isolated', 'host_network', 'changed_meanwhile', 'new_address'] as const
const isKnownWarning = (code: unknown): code is (typeof WARNING_CODES)[number] =>
  WARNING_CODES.some((known) => known === code)

const DISPLAY_CODES = [
  'create_folder',
  'delete_file',
  'delete_folder',
  'remember',
  'image',
  'send_here',
  'send_to',
  'python',
  'command',
  'mcp',
  'none',
] as const
const isKnownPreview = (code: unknown): code is (typeof DISPLAY_CODES)[number] =>
  DISPLAY_CODES.some((known) => known === code)

/** How strictly a Python program is limited, by the server's names. */
const LIMITS = ['strict', 'standard', 'lenient'] as const

/**
 * Texts are in the page's language if the server names them, otherwise in the server's words. While the arguments are changed,
 * their fields show what the preview would, so that only the warnings stay.
 */
export function ApprovalPreview({
  approval,
  isChanging = false,
}: {
  approval: PendingApproval
  isChanging?: boolean
}) {
  const { t } = useTranslation()
  const { preview } = approval
  return (
    <PartBoundary fallback={null}>
      {preview?.warning !== undefined && (
        <p className="flex gap-2 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
          <TriangleAlert size={15} aria-hidden className="mt-0.5 shrink-0" />
          {isKnownWarning(preview.warning_code)
            ? t(`approval.warning.${preview.warning_code}`)
            : preview.warning}
        </p>
      )}
      <NewAddresses addresses={preview?.addresses} />
      {!isChanging && <Shown approval={approval} />}
    </PartBoundary>
  )
}

/** What would happen: in words, as a diff, as a command, or the arguments as they are. */
function Shown({ approval }: { approval: PendingApproval }) {
  const { t } = useTranslation()
  const { preview } = approval
  const shown = preview?.diff !== undefined || preview?.command !== undefined
  // A diff already shows the file and its line counts.
  const hasDiff = preview?.diff !== undefined && preview.diff !== ''
  const limits = LIMITS.find((known) => known === preview?.display_params?.strictness)
  return (
    <>
      {preview?.display !== undefined && !hasDiff && (
        <p className="text-sm whitespace-pre-line text-soft first-letter:uppercase">
          {preview.diff === ''
            ? t('diff.noChange')
            : isKnownPreview(preview.display_code)
              ? t(`approval.preview.${preview.display_code}`, {
                  ...preview.display_params,
                  ...(limits === undefined ? {} : { strictness: t(`approval.limits.${limits}`) }),
                })
              : preview.display}
        </p>
      )}
      {hasDiff && <DiffView diff={preview?.diff ?? ''} isNamed={questionNames(approval)} />}
      {preview?.command !== undefined && <CodeBlock code={preview.command} language="bash" />}
      {!shown && (
        <div>
          <p className="mb-1 text-xs font-medium text-muted">{t('approval.arguments')}</p>
          <CodeBlock code={prettyVisible(approval.arguments)} language="json" />
        </div>
      )}
    </>
  )
}

/** The addresses that a call wants to reach and that nobody has named. They are no links: nothing must open by mistake. */
function NewAddresses({ addresses }: { addresses: unknown }) {
  if (!Array.isArray(addresses)) return null
  const data = addresses.filter((address) => typeof address === 'string')
  return (
    <ul className="flex flex-col gap-1">
      {data.map((address) => (
        <li key={address} dir="ltr" className="font-mono text-note break-all">
          {address}
        </li>
      ))}
    </ul>
  )
}
