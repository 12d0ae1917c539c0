// The tags of a conversation: add, remove, and suggestions of existing tags.
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { useConversation, usePatchConversation, useTags } from '../../lib/api/conversations.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'

const MAX_TAGS = 20
const MAX_CHARACTERS = 50
const MAX_SUGGESTIONS = 20

const keyOf = (tag: string): string => tag.normalize('NFKC').toLowerCase()

/** `id` is the conversation. Every change is stored at once. */
export function TagsDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation()
  const conversation = useConversation(id)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('tags.title')}
      description={t('tags.text')}
      width="narrow"
    >
      {conversation.isPending ? (
        <Loading />
      ) : conversation.isLoadingError ? (
        <Failed
          message={errorText(conversation.error)}
          onRetry={() => void conversation.refetch()}
        />
      ) : (
        <Tags id={id} tags={conversation.data.tags} />
      )}
    </Dialog>
  )
}

function Tags({ id, tags }: { id: string; tags: readonly string[] }) {
  const { t } = useTranslation()
  const patch = usePatchConversation()
  const known = useTags()
  const [text, setText] = useState('')
  const existing = new Set(tags.map(keyOf))
  const suggested = (known.data ?? []).filter(({ tag }) => !existing.has(keyOf(tag)))
  const isFull = tags.length >= MAX_TAGS
  const add = (tag: string): void => {
    const trimmed = tag.trim()
    if (trimmed === '' || isFull) return
    if (!existing.has(keyOf(trimmed))) patch.mutate({ id, tags: [...tags, trimmed] })
    setText('')
  }
  return (
    <div className="flex flex-col gap-4">
      {tags.length > 0 && (
        <ul className="flex flex-wrap gap-1.5">
          {tags.map((tag) => (
            <li
              key={tag}
              className="flex h-8 max-w-full items-center gap-1 rounded-full bg-accent-soft pe-1 ps-3 text-sm text-accent"
            >
              <span dir="auto" className="truncate">
                {tag}
              </span>
              <button
                type="button"
                aria-label={t('tags.remove', { tag })}
                className="grid size-6 shrink-0 place-items-center rounded-full hover:bg-hover"
                onClick={() => patch.mutate({ id, tags: tags.filter((one) => one !== tag) })}
              >
                <X size={13} aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          add(text)
        }}
      >
        <div className="min-w-0 flex-1">
          <TextField
            label={t('tags.add')}
            value={text}
            maxLength={MAX_CHARACTERS}
            disabled={isFull}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <Button type="submit" icon={Plus} disabled={isFull || text.trim() === ''}>
          {t('tags.add')}
        </Button>
      </form>
      {suggested.length > 0 && !isFull && (
        <div>
          <h3 className="mb-1.5 text-xs font-medium text-muted">{t('tags.known')}</h3>
          <ul className="flex flex-wrap gap-1.5">
            {suggested.slice(0, MAX_SUGGESTIONS).map(({ tag }) => (
              <li key={tag} className="max-w-full">
                <Button size="small" onClick={() => add(tag)}>
                  <span dir="auto" className="truncate">
                    {tag}
                  </span>
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
