// Feedback on an answer: thumbs up or down, and a note.
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import type { Feedback, Message } from '../../../../../server/protocol/conversations/message.ts'
import { useSetFeedback } from '../../../lib/api/messages.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { TextField } from '../../../ui/controls/field.tsx'

const RATINGS = [
  { rating: 'up', icon: ThumbsUp },
  { rating: 'down', icon: ThumbsDown },
] as const satisfies readonly { rating: Feedback['rating']; icon: typeof ThumbsUp }[]

const MAX_NOTE_CHARACTERS = 2_000

/** Returns the buttons and the form for a note. A rating is stored at once; its optional note when the user saves it. */
export function useAnswerFeedback(message: Message, conversationId: string) {
  const { t } = useTranslation()
  const set = useSetFeedback(conversationId)
  const [asking, setAsking] = useState(false)
  const { feedback } = message
  const rate = (rating: Feedback['rating']): void => {
    const isRemoved = feedback?.rating === rating
    setAsking(!isRemoved)
    set.mutate({ id: message.id, feedback: isRemoved ? null : { rating } })
  }
  return {
    buttons: RATINGS.map(({ rating, icon }) => (
      <ActionButton
        key={rating}
        icon={icon}
        label={t(`answer.${rating}`)}
        aria-pressed={feedback?.rating === rating}
        onClick={() => rate(rating)}
      />
    )),
    note:
      asking && feedback !== undefined ? (
        <form
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            const note = String(new FormData(event.currentTarget).get('note')).trim()
            set.mutate(
              {
                id: message.id,
                feedback: { rating: feedback.rating, ...(note === '' ? {} : { note }) },
              },
              { onSuccess: () => setAsking(false) },
            )
          }}
        >
          <div className="min-w-0 flex-1">
            <TextField
              name="note"
              label={t(`answer.note.${feedback.rating}`)}
              defaultValue={feedback.note ?? ''}
              maxLength={MAX_NOTE_CHARACTERS}
              onKeyDown={(event) => {
                if (event.key === 'Escape') setAsking(false)
              }}
            />
          </div>
          <Button type="submit" disabled={set.isPending}>
            {t('common.save')}
          </Button>
        </form>
      ) : null,
  }
}
