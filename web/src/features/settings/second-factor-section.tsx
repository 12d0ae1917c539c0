// The second factors in the settings: authenticator app, passkeys, recovery codes.
import { Fingerprint, KeyRound, Smartphone } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useSecondFactorActions, useSecondFactors } from '../../lib/api/second-factors.ts'
import { copyText } from '../../lib/browser/copy-text.ts'
import { fullTime } from '../../lib/format.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { bringIntoView } from '../../ui/states/bring-into-view.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { Section } from './section.tsx'

/** The purpose of the open form. */
type Task =
  | { kind: 'totp' }
  | { kind: 'codes' }
  | { kind: 'passkey' }
  | { kind: 'remove'; id: string; name: string }

/** A part of the account tab. New recovery codes are shown only once. */
export function SecondFactorSection() {
  const { t, i18n } = useTranslation()
  const moment = (time: string): string => fullTime(time, i18n.language)
  const factors = useSecondFactors()
  const [task, setTask] = useState<Task | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  if (factors.isPending) return <Loading />
  if (factors.isError)
    return <Failed message={errorText(factors.error)} onRetry={() => void factors.refetch()} />
  const {
    totp,
    passkeys,
    recovery_codes: remainingCodes,
    passkeys_available: available,
  } = factors.data
  const isSet = totp || passkeys.length > 0
  const row = 'flex items-center gap-3 py-3'
  const done = (fresh?: readonly string[] | null) => {
    setTask(null)
    if (fresh != null) setCodes(fresh)
  }
  return (
    <Section id="second-factor" title={t('secondFactor.title')} text={t('secondFactor.text')}>
      <ul className="-my-2 divide-y divide-line">
        <li className={row}>
          <Smartphone size={17} aria-hidden className="shrink-0 text-muted" />
          <div className="min-w-0 flex-1">
            <p className="font-medium">{t('secondFactor.totp')}</p>
            <p className="text-note text-muted">
              {t(totp ? 'secondFactor.on' : 'secondFactor.off')}
            </p>
          </div>
          {totp ? (
            <Button
              size="small"
              aria-label={t('secondFactor.removeOne', { name: t('secondFactor.totp') })}
              onClick={() => setTask({ kind: 'remove', id: 'totp', name: t('secondFactor.totp') })}
            >
              {t('secondFactor.remove')}
            </Button>
          ) : (
            <Button size="small" onClick={() => setTask({ kind: 'totp' })}>
              {t('secondFactor.setUp')}
            </Button>
          )}
        </li>
        {passkeys.map(({ id, name, created_at: created, last_used_at: used }) => (
          <li key={id} className={row}>
            <Fingerprint size={17} aria-hidden className="shrink-0 text-muted" />
            <div className="min-w-0 flex-1">
              <p className="truncate font-medium">{name}</p>
              <p className="text-note text-muted">
                {t('secondFactor.added', { time: moment(created) })}
                {used !== null && ` · ${t('sessions.lastUsed', { time: moment(used) })}`}
              </p>
            </div>
            <Button
              size="small"
              aria-label={t('secondFactor.removeOne', { name })}
              onClick={() => setTask({ kind: 'remove', id, name })}
            >
              {t('secondFactor.remove')}
            </Button>
          </li>
        ))}
        <li className={row}>
          <Fingerprint size={17} aria-hidden className="shrink-0 text-muted" />
          <div className="min-w-0 flex-1">
            <p className="font-medium">{t('secondFactor.newPasskey')}</p>
            <p className="text-note text-muted">
              {t(available ? 'secondFactor.passkeyText' : 'secondFactor.passkeyUnavailable')}
            </p>
          </div>
          {available && (
            <Button size="small" onClick={() => setTask({ kind: 'passkey' })}>
              {t('secondFactor.addPasskey')}
            </Button>
          )}
        </li>
        {isSet && (
          <li className={row}>
            <KeyRound size={17} aria-hidden className="shrink-0 text-muted" />
            <div className="min-w-0 flex-1">
              <p className="font-medium">{t('secondFactor.codes')}</p>
              <p className="text-note text-muted">
                {t('secondFactor.codesLeft', { count: remainingCodes })}
              </p>
            </div>
            <Button size="small" onClick={() => setTask({ kind: 'codes' })}>
              {t('secondFactor.newCodes')}
            </Button>
          </li>
        )}
      </ul>
      {task !== null && (
        <TaskForm
          key={JSON.stringify(task)}
          task={task}
          onDone={done}
          onCancel={() => setTask(null)}
        />
      )}
      {codes !== null && <Codes codes={codes} onClose={() => setCodes(null)} />}
    </Section>
  )
}

/** For `ref` of the field that a step begins with. */
const focusField = (field: HTMLInputElement | null): void => field?.focus()

const isCancelled = (error: unknown): boolean => !(error instanceof ApiError)

function TaskForm({
  task,
  onDone,
  onCancel,
}: {
  task: Task
  onDone: (codes?: readonly string[] | null) => void
  onCancel: () => void
}) {
  const { t } = useTranslation()
  useFocusAfterwards()
  const { beginTotp, confirmTotp, createCodes, addPasskey, remove } = useSecondFactorActions()
  const [password, setPassword] = useState('')
  const [name, setName] = useState('')
  const [code, setCode] = useState('')
  const begun = task.kind === 'totp' ? beginTotp.data : undefined
  const actions = [beginTotp, confirmTotp, createCodes, addPasskey, remove]
  const error = actions.find(({ isError }) => isError)?.error
  const isFilled =
    begun === undefined
      ? password !== '' && (task.kind !== 'passkey' || name.trim() !== '')
      : code.trim() !== ''
  const isBusy = actions.some(({ isPending }) => isPending)
  const submit = () => {
    for (const action of actions) if (action.isError) action.reset()
    const taken = {
      onSuccess: (data: { recovery_codes: string[] | null }) => onDone(data.recovery_codes),
    }
    if (begun !== undefined) confirmTotp.mutate(code, taken)
    else if (task.kind === 'totp') beginTotp.mutate(password)
    else if (task.kind === 'codes') createCodes.mutate(password, taken)
    else if (task.kind === 'passkey') addPasskey.mutate({ name, password }, taken)
    else if (task.kind === 'remove')
      remove.mutate({ id: task.id, password }, { onSuccess: () => onDone() })
  }
  return (
    <form
      className="mt-4 flex flex-col gap-4 border-t border-line pt-4"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {task.kind === 'remove' && (
        <p className="text-sm wrap-anywhere">{t('secondFactor.removeText', { name: task.name })}</p>
      )}
      {begun === undefined ? (
        <TextField
          ref={focusField}
          label={t('settings.currentPassword')}
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      ) : (
        <>
          <p className="text-sm">{t('secondFactor.scan')}</p>
          <QrCode text={begun.uri} label={t('secondFactor.qrCode')} />
          <TextField label={t('secondFactor.secret')} readOnly value={begun.secret} />
          <TextField
            ref={focusField}
            label={t('auth.code')}
            autoComplete="one-time-code"
            inputMode="numeric"
            required
            minLength={6}
            maxLength={10}
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        </>
      )}
      {task.kind === 'passkey' && (
        <TextField
          label={t('secondFactor.passkeyName')}
          hint={t('secondFactor.passkeyNameHint')}
          required
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      {error !== undefined && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
          {isCancelled(error) ? t('auth.passkeyFailed') : errorText(error)}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button tone="quiet" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
        <Button tone="primary" type="submit" disabled={isBusy || !isFilled}>
          {t(task.kind === 'remove' ? 'secondFactor.remove' : 'secondFactor.go')}
        </Button>
      </div>
    </form>
  )
}

/** Gives the focus back to the button that opened the form once the form is gone. */
function useFocusAfterwards(): void {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
    },
    [opener],
  )
}

function Codes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <div
      ref={bringIntoView}
      className="mt-4 flex flex-col gap-3 border-t border-line pt-4"
      role="status"
    >
      <p className="text-sm">{t('secondFactor.codesText')}</p>
      <ul
        className="grid grid-cols-2 gap-x-6 gap-y-1 font-mono text-sm"
        data-testid="recovery-codes"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex justify-end gap-2">
        <Button onClick={() => void copyText(codes.join('\n'))}>{t('common.copy')}</Button>
        <Button tone="primary" onClick={onClose}>
          {t('secondFactor.codesStored')}
        </Button>
      </div>
    </div>
  )
}
