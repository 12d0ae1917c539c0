// The last step of the setup: a first question to one of the new models.
import { ArrowRight, MessageSquare } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { createConversation } from '../../lib/api/conversations.ts'
import { send } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { writeLastModel } from '../../lib/preferences/last-model.ts'
import { linkButtonClass } from '../../ui/controls/button.tsx'
import { reportError } from '../../ui/states/error-text.ts'

const QUESTIONS = ['time', 'sum', 'text'] as const

/** Sends the question in a new conversation. Resolves with its id; its page follows the run. */
async function sendQuestion(model: string, text: string): Promise<string> {
  const { id } = await createConversation({ model })
  const response = await send(`/api/conversations/${id}/messages`, {
    method: 'POST',
    headers: { accept: 'text/event-stream' },
    body: { text, stream: true, stream_mode: 'delta' },
  })
  // The run continues without this listener.
  await response.body?.cancel()
  return id
}

/** `models` are the ids of the added models. Sending opens the new conversation. */
export function TryStep({ models }: { models: readonly string[] }) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const [model, setModel] = useState(models[0] ?? '')
  const [busy, setBusy] = useState(false)
  const start = async (text: string): Promise<void> => {
    setBusy(true)
    try {
      writeLastModel(model)
      navigate(paths.conversation(await sendQuestion(model, text)))
    } catch (error) {
      reportError(error)
      setBusy(false)
    }
  }
  return (
    <>
      {models.length > 1 && (
        <fieldset className="flex flex-col gap-1">
          <legend className="mb-1 text-sm font-medium text-soft">{t('composer.model')}</legend>
          {models.map((id) => (
            <label key={id} className="touch-target flex items-center gap-2.5 text-sm">
              <input
                type="radio"
                name="model"
                className="size-4 accent-accent"
                checked={id === model}
                onChange={() => setModel(id)}
              />
              <span className="min-w-0 truncate font-mono text-note">{id}</span>
            </label>
          ))}
        </fieldset>
      )}
      <ul aria-label={t('home.suggestions')} className="flex flex-col gap-2">
        {QUESTIONS.map((key) => (
          <li key={key}>
            <button
              type="button"
              disabled={busy}
              className="flex min-h-12 w-full items-center gap-3 rounded-xl border border-line bg-surface px-4 text-start text-sm hover:border-line-strong hover:bg-hover disabled:opacity-50"
              onClick={() => void start(t(`home.try.${key}.text`))}
            >
              <MessageSquare size={15} aria-hidden className="shrink-0 text-muted" />
              <span className="min-w-0 flex-1">{t(`home.try.${key}.text`)}</span>
              <ArrowRight size={15} aria-hidden className="shrink-0 text-muted" />
            </button>
          </li>
        ))}
      </ul>
      <div className="flex justify-end">
        <Link
          href={paths.home}
          className={linkButtonClass}
          onClick={() => {
            if (model !== '') writeLastModel(model)
          }}
        >
          {t('setup.own')}
        </Link>
      </div>
    </>
  )
}
