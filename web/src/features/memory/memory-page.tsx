// The memory page: a list of facts that can be forgotten, and the full text to edit.

import { Save, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { keyed } from '../../lib/list-keys.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { inputClass } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { submitByKeys } from '../../ui/controls/submit-by-keys.ts'
import { useTextEdit } from '../../ui/controls/use-text-edit.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { ChangedElsewhere } from '../../ui/states/changed-elsewhere.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { useForgetFact, useMemory, useSaveMemory } from './api/memory.ts'
import { factsIn, type MemoryFact } from './memory-facts.ts'

/** The page at `/memory`. */
export function MemoryPage() {
  const { t } = useTranslation()
  const memory = useMemory()
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-5 px-5 py-8">
      <header>
        <h1 className="font-display text-3xl tracking-tight">{t('memory.title')}</h1>
        <p className="mt-1.5 text-sm text-muted">{t('memory.text')}</p>
      </header>
      {memory.isPending && <Loading />}
      {memory.isError && (
        <Failed message={errorText(memory.error)} onRetry={() => void memory.refetch()} />
      )}
      {memory.data !== undefined && (
        <>
          <Facts facts={factsIn(memory.data.content)} />
          <Editor stored={memory.data.content} />
        </>
      )}
    </div>
  )
}

function Facts({ facts }: { facts: readonly MemoryFact[] }) {
  const { t } = useTranslation()
  const forget = useForgetFact()
  const [toForget, setToForget] = useState<MemoryFact | null>(null)
  if (facts.length === 0) return null
  return (
    <section aria-labelledby="memory-facts">
      <h2 id="memory-facts" className="mb-2 text-sm font-medium text-soft">
        {t('memory.facts', { count: facts.length })}
      </h2>
      <ul
        ref={moveFocusOnRemoval}
        className="max-h-96 divide-y divide-line overflow-y-auto rounded-2xl border border-line bg-surface px-4"
      >
        {keyed(facts, ({ line }) => line).map(({ key, item: fact }) => (
          <li key={key} className="flex items-center gap-3 py-2.5">
            <p className="min-w-0 flex-1 text-sm [overflow-wrap:anywhere]">
              {fact.text}
              {(fact.date !== '' || fact.untrusted) && (
                <span className="mt-0.5 block text-note text-muted">
                  {[fact.date, fact.untrusted ? t('memory.untrusted') : '']
                    .filter((part) => part !== '')
                    .join(' · ')}
                </span>
              )}
            </p>
            <IconButton
              icon={Trash2}
              size="small"
              label={t('memory.forget', { fact: fact.text })}
              onClick={() => setToForget(fact)}
            />
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={toForget !== null}
        onOpenChange={() => setToForget(null)}
        title={t('memory.forgetTitle')}
        text={toForget?.text ?? ''}
        confirm={t('memory.forgetConfirm')}
        onConfirm={() => toForget !== null && forget.mutate(toForget.line)}
      />
    </section>
  )
}

function Editor({ stored }: { stored: string }) {
  const { t } = useTranslation()
  const save = useSaveMemory()
  const edit = useTextEdit('memory', stored)
  const { base, text } = edit
  const store = async (expected: string): Promise<void> => {
    const isStored = await edit.save(async () => {
      const memory = await save.mutateAsync({ content: text, base: expected })
      return memory.content
    })
    if (isStored) notify(t('memory.saved'), 'success')
  }
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void store(base)
      }}
    >
      <p aria-hidden className="-mb-1 text-sm font-medium text-soft">
        {t('memory.whole')}
      </p>
      {edit.isChangedElsewhere && (
        <div className="overflow-hidden rounded-xl">
          <ChangedElsewhere
            text={t('memory.changed')}
            onReload={edit.takeStored}
            onOverwrite={() => void store(stored)}
          />
        </div>
      )}
      <textarea
        aria-label={t('memory.whole')}
        value={text}
        spellCheck={false}
        placeholder={t('memory.placeholder')}
        className={`${inputClass} min-h-[26rem] resize-y rounded-2xl p-4 font-mono text-compact leading-relaxed sm:text-compact`}
        onChange={(event) => edit.setText(event.target.value)}
        onKeyDown={submitByKeys}
      />
      <div className="flex justify-end">
        <Button
          tone="primary"
          type="submit"
          icon={Save}
          disabled={text === stored || save.isPending}
        >
          {t('common.save')}
        </Button>
      </div>
    </form>
  )
}
