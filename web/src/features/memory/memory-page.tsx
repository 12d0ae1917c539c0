// What the agent remembers of the user, to be read and corrected.
import { Save } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useMemory, useSaveMemory } from '../../lib/api/memory.ts'
import { Button } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { Failed, Loading } from '../../ui/feedback.tsx'
import { inputClass } from '../../ui/field.tsx'
import { notify } from '../../ui/toasts.ts'

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
        <Editor key={memory.data.content} stored={memory.data.content} />
      )}
    </div>
  )
}

function Editor({ stored }: { stored: string }) {
  const { t } = useTranslation()
  const save = useSaveMemory()
  const [text, setText] = useState(stored)
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(text, { onSuccess: () => notify(t('memory.saved'), 'success') })
      }}
    >
      <textarea
        aria-label={t('memory.title')}
        value={text}
        spellCheck={false}
        placeholder={t('memory.placeholder')}
        className={`${inputClass} min-h-[26rem] resize-y rounded-2xl p-4 font-mono text-[13.5px] leading-relaxed sm:text-[13.5px]`}
        onChange={(event) => setText(event.target.value)}
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
