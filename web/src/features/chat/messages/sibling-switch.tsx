// Switches between siblings: regenerated answers or edited messages.
import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { showBranches } from '../branches/shown-branches.ts'

/** `siblings` includes `id`, in the order of creation. Renders nothing for a message without siblings. */
export function SiblingSwitch({
  id,
  siblings,
  disabled,
  onShow,
}: {
  id: MessageId
  siblings: readonly MessageId[]
  disabled: boolean
  onShow: (id: MessageId) => void
}) {
  const { t } = useTranslation()
  const place = siblings.indexOf(id)
  if (siblings.length < 2 || place < 0) return null
  const previous = siblings[place - 1]
  const next = siblings[place + 1]
  return (
    <span data-siblings className="inline-flex items-center text-xs text-muted tabular-nums">
      <ActionButton
        icon={ChevronLeft}
        label={t('message.previousVersion')}
        disabled={disabled || previous === undefined}
        onClick={() => previous !== undefined && onShow(previous)}
      />
      <button
        type="button"
        data-branches
        title={t('message.branches')}
        aria-label={t('message.branchOf', { place: place + 1, count: siblings.length })}
        className="min-h-7 pointer-coarse:min-h-11 rounded-lg px-1 hover:bg-hover hover:text-ink"
        onClick={() => showBranches(true)}
      >
        {place + 1} / {siblings.length}
      </button>
      <ActionButton
        icon={ChevronRight}
        label={t('message.nextVersion')}
        disabled={disabled || next === undefined}
        onClick={() => next !== undefined && onShow(next)}
      />
    </span>
  )
}
