// The first page: a greeting, the field to write in, and a few things to try.
import { useQueryClient } from '@tanstack/react-query'
import { Calculator, Clock, CloudSun, FolderSearch } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { conversationKeys, createConversation } from '../../lib/api/conversations.ts'
import { paths } from '../../lib/paths.ts'
import { reportError } from '../../ui/error-text.ts'
import type { ChatOptions } from './chat-options.ts'
import { Composer, type Draft } from './composer.tsx'
import { conversationPatch } from './conversation-patch.ts'
import { startRun } from './start-run.ts'

const suggestions = [
  { key: 'time', icon: Clock },
  { key: 'weather', icon: CloudSun },
  { key: 'sum', icon: Calculator },
  { key: 'files', icon: FolderSearch },
] as const

const greetingOf = (hour: number) =>
  hour < 5 ? 'night' : hour < 12 ? 'morning' : hour < 18 ? 'afternoon' : 'evening'

export function NewChat({
  projectId,
  projectPicker,
  notice,
}: {
  projectId: ProjectId | null
  projectPicker: ReactNode
  notice?: ReactNode
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const { data: models } = useModels()
  const [options, setOptions] = useState<ChatOptions>({
    model: null,
    thinking: false,
    tools: true,
    approval: null,
  })
  const hour = useMemo(() => new Date().getHours(), [])

  const start = async (draft: Draft): Promise<boolean> => {
    try {
      const { model, ...rest } = conversationPatch(options)
      const conversation = await createConversation({
        ...(model == null ? {} : { model }),
        ...(rest.thinking_enabled === true ? { thinking_enabled: true } : {}),
        ...(rest.approval == null ? {} : { approval: rest.approval }),
        ...(projectId === null ? {} : { project_id: projectId }),
      })
      client.setQueryData(conversationKeys.one(conversation.id), conversation)
      await startRun(
        client,
        conversation.id,
        { kind: 'send', body: { ...draft, tools_enabled: options.tools } },
        crypto.randomUUID(),
      )
      void client.invalidateQueries({ queryKey: conversationKeys.lists })
      navigate(paths.conversation(conversation.id))
      return true
    } catch (error) {
      reportError(error)
      return false
    }
  }

  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="mx-auto my-auto flex w-full max-w-2xl flex-col px-4 py-10">
        <h1 className="mb-7 text-center font-display text-[2.1rem] leading-tight tracking-[-0.02em] text-balance max-sm:text-3xl">
          {t(`home.greeting.${greetingOf(hour)}`)}
        </h1>
        <Composer
          draftKey="new"
          options={options}
          onOptions={(change) => setOptions((old) => ({ ...old, ...change }))}
          running={false}
          onSend={start}
          onStop={() => undefined}
          leading={projectPicker}
          autoFocus
        />
        <ul className="mt-4 flex flex-wrap justify-center gap-2" aria-label={t('home.suggestions')}>
          {suggestions.map(({ key, icon: Icon }) => (
            <li key={key}>
              <button
                type="button"
                className="inline-flex h-9 items-center gap-2 rounded-full border border-line px-3.5 text-[13.5px] text-soft transition-colors hover:border-line-strong hover:bg-hover hover:text-ink"
                onClick={() => void start({ text: t(`home.try.${key}.text`), attachments: [] })}
              >
                <Icon size={14} aria-hidden className="text-muted" />
                {t(`home.try.${key}.label`)}
              </button>
            </li>
          ))}
        </ul>
        {models?.some(({ demo }) => demo) === true && notice}
      </div>
    </div>
  )
}
