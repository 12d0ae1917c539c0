// The settings dialog of one conversation: system prompt, temperature, answer length, deadline of approvals, MCP servers.
import { useId, useState } from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { usePatchConversation } from '../../lib/api/conversations.ts'
import { useMcpServers } from '../../lib/api/mcp.ts'
import { longDuration } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The deadlines that are offered, in seconds. */
const DEADLINES = [15 * MINUTE, HOUR, 8 * HOUR, DAY, 7 * DAY, 30 * DAY]

const readNumber = (text: string): number | null => (text.trim() === '' ? null : Number(text))

/** An empty field leaves the choice to the server. */
export function ChatSettings({
  conversation,
  onClose,
}: {
  conversation: Conversation
  onClose: () => void
}) {
  const { t, i18n } = useTranslation()
  const formId = useId()
  const patch = usePatchConversation()
  const { data: servers } = useMcpServers()
  const [prompt, setPrompt] = useState(conversation.system_prompt ?? '')
  const [temperature, setTemperature] = useState(conversation.temperature?.toString() ?? '')
  const [maxTokens, setMaxTokens] = useState(conversation.max_tokens?.toString() ?? '')
  const [deadline, setDeadline] = useState(conversation.approval_deadline)
  const [disabled, setDisabled] = useState(conversation.disabled_mcp_servers)
  const heat = readNumber(temperature)
  const length = readNumber(maxTokens)
  const badHeat = heat !== null && !(heat >= 0 && heat <= 2)
  const badLength = length !== null && !(Number.isInteger(length) && length >= 1)

  const save = (): void => {
    if (badHeat || badLength) return
    patch.mutate(
      {
        id: conversation.id,
        system_prompt: prompt.trim() === '' ? null : prompt,
        temperature: heat,
        max_tokens: length,
        approval_deadline: deadline,
        disabled_mcp_servers: disabled,
      },
      { onSuccess: onClose },
    )
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('chatSettings.title')}
      description={t('chatSettings.text')}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button
            tone="primary"
            type="submit"
            form={formId}
            disabled={badHeat || badLength || patch.isPending}
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <TextArea
          label={t('chatSettings.systemPrompt')}
          hint={t('chatSettings.systemPromptHint')}
          value={prompt}
          rows={7}
          maxLength={100_000}
          onChange={(event) => setPrompt(event.target.value)}
        />
        <div className="grid gap-5 sm:grid-cols-2">
          <TextField
            label={t('chatSettings.temperature')}
            hint={t('chatSettings.temperatureHint')}
            error={badHeat ? t('chatSettings.temperatureBad') : undefined}
            inputMode="decimal"
            placeholder={t('common.default')}
            value={temperature}
            onChange={(event) => setTemperature(event.target.value)}
          />
          <TextField
            label={t('chatSettings.maxTokens')}
            hint={t('chatSettings.maxTokensHint')}
            error={badLength ? t('chatSettings.maxTokensBad') : undefined}
            inputMode="numeric"
            placeholder={t('common.default')}
            value={maxTokens}
            onChange={(event) => setMaxTokens(event.target.value)}
          />
        </div>
        <SelectField
          label={t('chatSettings.deadline')}
          hint={t('chatSettings.deadlineHint')}
          value={String(deadline ?? '')}
          options={[
            { value: '', label: t('chatSettings.deadlineNone') },
            ...offeredWith(conversation.approval_deadline).map((seconds) => ({
              value: String(seconds),
              label: longDuration(seconds, i18n.language),
            })),
          ]}
          onChange={(event) => setDeadline(readNumber(event.target.value))}
        />
        {servers !== undefined && servers.length > 0 && (
          <fieldset className="flex flex-col gap-3">
            <legend className="mb-2 text-sm font-medium text-soft">{t('mcp.title')}</legend>
            {servers.map((server) => (
              <Switch
                key={server.name}
                label={server.name}
                hint={t('mcp.toolCount', { count: server.tools.length })}
                checked={!disabled.includes(server.name)}
                onChange={(on) =>
                  setDisabled((old) =>
                    on ? old.filter((name) => name !== server.name) : [...old, server.name],
                  )
                }
              />
            ))}
          </fieldset>
        )}
      </form>
    </Dialog>
  )
}

/** The offered deadlines, and the one that a program has set. */
const offeredWith = (set: number | null): number[] =>
  [...new Set(set === null ? DEADLINES : [...DEADLINES, set])].sort((one, other) => one - other)
