// What a project is as an assistant: its icon and description, messages to begin with, and what new conversations begin with.
import { ArrowUp, ImageUp, Plus, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import type { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import type { Project } from '../../../../server/protocol/projects/project.ts'
import { useUpdateProject, useUploadImage } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/controls/field.tsx'
import { ImageIcon, isImageIcon } from './project-icon.tsx'

/** The server's limits. */
const MAX_STARTERS = 6
const MAX_TITLE = 60
const MAX_TEXT = 2_000
const MAX_DESCRIPTION = 2_000

const APPROVALS = ['ask', 'auto_medium', 'auto'] as const satisfies readonly ApprovalMode[]
/** Emojis that are one choice away; any other can be typed. */
const EMOJIS = ['📚', '✍️', '🧪', '📊', '🧭', '🛠️', '🎨', '💡'] as const

type Change = Omit<Parameters<ReturnType<typeof useUpdateProject>['mutate']>[0], 'id'>

/** A starter while it is edited; the key keeps its fields while others are removed or moved. */
interface Draft {
  key: number
  title: string
  text: string
}

const readNumber = (text: string): number | undefined =>
  text.trim() === '' ? undefined : Number(text)

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Saves what was changed, and nothing else. */
export function AssistantForm({ project }: { project: Project & { id: ProjectId } }) {
  const { t } = useTranslation()
  const update = useUpdateProject()
  const [icon, setIcon] = useState(project.icon ?? '')
  const [description, setDescription] = useState(project.description ?? '')
  const [starters, setStarters] = useState<Draft[]>(() =>
    project.starters.map((starter, key) => ({ key, ...starter })),
  )
  const [nextKey, setNextKey] = useState(project.starters.length)
  const [approval, setApproval] = useState<string>(project.defaults.approval ?? '')
  const [thinking, setThinking] = useState(String(project.defaults.thinking_enabled ?? ''))
  const [temperature, setTemperature] = useState(project.defaults.temperature?.toString() ?? '')
  const [maxTokens, setMaxTokens] = useState(project.defaults.max_tokens?.toString() ?? '')

  const isOwner = project.role === 'own'
  const heat = readNumber(temperature)
  const length = readNumber(maxTokens)
  const badHeat = heat !== undefined && !(heat >= 0 && heat <= 2)
  const badLength = length !== undefined && !(Number.isInteger(length) && length >= 1)
  const written = starters
    .map(({ title, text }) => ({ title: title.trim(), text: text.trim() }))
    .filter(({ title, text }) => title !== '' || text !== '')
  const isHalf = written.some(({ title, text }) => title === '' || text === '')
  const mode = APPROVALS.find((known) => known === approval)
  const defaults: NonNullable<Change['defaults']> = {
    // The server keeps what an owner has chosen.
    ...(mode === undefined || !isOwner ? {} : { approval: mode }),
    ...(thinking === '' ? {} : { thinking_enabled: thinking === 'true' }),
    ...(heat === undefined ? {} : { temperature: heat }),
    ...(length === undefined ? {} : { max_tokens: length }),
  }
  const stored = project.defaults
  const change: Change = {
    ...(icon.trim() === (project.icon ?? '') ? {} : { icon: icon.trim() || null }),
    ...(description.trim() === (project.description ?? '')
      ? {}
      : { description: description.trim() || null }),
    ...(isSame(written, project.starters) ? {} : { starters: written }),
    ...(mode === stored.approval &&
    defaults.thinking_enabled === stored.thinking_enabled &&
    heat === stored.temperature &&
    length === stored.max_tokens
      ? {}
      : { defaults }),
  }
  const isChanged = Object.keys(change).length > 0
  const isReady = isChanged && !badHeat && !badLength && !isHalf && !update.isPending

  const edit = (key: number, fields: Partial<Draft>): void =>
    setStarters((old) => old.map((one) => (one.key === key ? { ...one, ...fields } : one)))
  const moveUp = (at: number): void =>
    setStarters((old) =>
      old.map(
        (one, index) => (index === at - 1 ? old[at] : index === at ? old[at - 1] : one) ?? one,
      ),
    )

  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        // A refusal is shown as a notice; what was written stays.
        if (isReady) update.mutate({ id: project.id, ...change })
      }}
    >
      <IconChoice icon={icon} onChange={setIcon} />
      <TextArea
        label={t('project.description')}
        rows={2}
        maxLength={MAX_DESCRIPTION}
        className="min-h-16"
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <div className="flex flex-col gap-3">
        <div className="flex flex-col gap-1">
          <h3 className="text-sm font-medium text-soft">{t('project.starters')}</h3>
          <p className="text-note text-muted">{t('project.startersHint')}</p>
        </div>
        <ol className="flex flex-col gap-3 empty:hidden">
          {starters.map(({ key, title, text }, at) => (
            <li key={key} className="flex flex-col gap-3 rounded-xl border border-line p-3">
              <div className="flex items-end gap-1">
                <div className="min-w-0 flex-1">
                  <TextField
                    label={t('project.starterTitle', { number: at + 1 })}
                    value={title}
                    maxLength={MAX_TITLE}
                    autoComplete="off"
                    onChange={({ target }) => edit(key, { title: target.value })}
                  />
                </div>
                {at > 0 && (
                  <IconButton
                    icon={ArrowUp}
                    label={t('project.starterUp', { number: at + 1 })}
                    onClick={() => moveUp(at)}
                  />
                )}
                <IconButton
                  icon={Trash2}
                  label={t('project.starterRemove', { number: at + 1 })}
                  onClick={() => setStarters((old) => old.filter((one) => one.key !== key))}
                />
              </div>
              <TextArea
                label={t('project.starterText', { number: at + 1 })}
                value={text}
                rows={2}
                maxLength={MAX_TEXT}
                className="min-h-16"
                onChange={({ target }) => edit(key, { text: target.value })}
              />
            </li>
          ))}
        </ol>
        {isHalf && (
          <p role="alert" className="text-note text-bad">
            {t('project.starterHalf')}
          </p>
        )}
        {starters.length < MAX_STARTERS && (
          <Button
            icon={Plus}
            size="small"
            className="self-start"
            onClick={() => {
              setStarters([...starters, { key: nextKey, title: '', text: '' }])
              setNextKey(nextKey + 1)
            }}
          >
            {t('project.starterAdd')}
          </Button>
        )}
      </div>
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField
          label={t('approval.heading')}
          value={approval}
          disabled={!isOwner}
          hint={isOwner ? undefined : t('project.approvalOwner')}
          options={[
            { value: '', label: t('common.default') },
            ...APPROVALS.map((one) => ({ value: one, label: t(`approval.mode.${one}`) })),
          ]}
          onChange={({ target }) => setApproval(target.value)}
        />
        <SelectField
          label={t('composer.thinking')}
          value={thinking}
          options={[
            { value: '', label: t('common.default') },
            { value: 'true', label: t('project.on') },
            { value: 'false', label: t('project.off') },
          ]}
          onChange={({ target }) => setThinking(target.value)}
        />
        <TextField
          label={t('chatSettings.temperature')}
          hint={t('chatSettings.temperatureHint')}
          error={badHeat ? t('chatSettings.temperatureBad') : undefined}
          inputMode="decimal"
          placeholder={t('common.default')}
          value={temperature}
          onChange={({ target }) => setTemperature(target.value)}
        />
        <TextField
          label={t('chatSettings.maxTokens')}
          hint={t('chatSettings.maxTokensHint')}
          error={badLength ? t('chatSettings.maxTokensBad') : undefined}
          inputMode="numeric"
          placeholder={t('common.default')}
          value={maxTokens}
          onChange={({ target }) => setMaxTokens(target.value)}
        />
      </div>
      <Button
        type="submit"
        size="small"
        tone={isChanged ? 'primary' : 'plain'}
        className="self-end"
        disabled={!isReady}
      >
        {t('common.save')}
      </Button>
    </form>
  )
}

/** An emoji, typed or chosen, or an image. */
function IconChoice({ icon, onChange }: { icon: string; onChange: (icon: string) => void }) {
  const { t } = useTranslation()
  const upload = useUploadImage()
  const picker = useRef<HTMLInputElement>(null)
  const isImage = isImageIcon(icon)
  return (
    <div className="flex flex-col gap-2">
      {isImage ? (
        <div>
          <p className="text-sm font-medium text-soft">{t('project.icon')}</p>
          <div
            role="img"
            aria-label={t('project.iconShown')}
            className="mt-1.5 text-[2.5rem] leading-none"
          >
            <ImageIcon key={icon} id={icon} />
          </div>
        </div>
      ) : (
        <>
          <TextField
            label={t('project.icon')}
            hint={t('project.iconHint')}
            value={icon}
            maxLength={64}
            autoComplete="off"
            className="max-w-32"
            onChange={({ target }) => onChange(target.value)}
          />
          <fieldset className="flex flex-wrap gap-1">
            <legend className="sr-only">{t('project.icons')}</legend>
            {EMOJIS.map((emoji) => (
              <button
                key={emoji}
                type="button"
                aria-pressed={icon === emoji}
                className="touch-target size-9 rounded-lg text-lg hover:bg-hover aria-pressed:bg-accent-soft"
                onClick={() => onChange(icon === emoji ? '' : emoji)}
              >
                {emoji}
              </button>
            ))}
          </fieldset>
        </>
      )}
      <div className="flex flex-wrap gap-2">
        <input
          ref={picker}
          type="file"
          accept="image/*"
          hidden
          aria-label={t('project.iconImage')}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            target.value = ''
            if (file !== undefined) upload.mutate(file, { onSuccess: ({ id }) => onChange(id) })
          }}
        />
        <Button
          size="small"
          icon={ImageUp}
          disabled={upload.isPending}
          onClick={() => picker.current?.click()}
        >
          {t(upload.isPending ? 'projects.uploading' : 'project.iconImage')}
        </Button>
        {isImage && (
          <Button size="small" icon={Trash2} onClick={() => onChange('')}>
            {t('project.iconRemove')}
          </Button>
        )}
      </div>
    </div>
  )
}
