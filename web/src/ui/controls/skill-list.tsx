// The skills of a user, everywhere or in one project: switched on and off, added and deleted.
import { GraduationCap, Plus, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Skill } from '../../../../server/protocol/projects/skills.ts'
import { useAddSkill, useDeleteSkill, useSkills } from '../../lib/api/skills.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { keyed } from '../../lib/list-keys.ts'
import { skillDescription } from '../../lib/skill-description.ts'
import { ConfirmDialog } from '../overlays/dialog.tsx'
import { errorText } from '../states/error-text.ts'
import { Empty, Failed, Loading } from '../states/feedback.tsx'
import { Button, IconButton } from './button.tsx'
import { moveFocusOnRemoval } from './move-focus-on-removal.ts'
import { Switch } from './switch.tsx'

/** Null: those that the user has everywhere. */
interface Place {
  projectId: string | null
}

/** Adds a skill from a `SKILL.md` or an archive, to the user's own or to a project. */
export function AddSkillButton({ projectId }: Place) {
  const { t } = useTranslation()
  const add = useAddSkill(projectId)
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".md,.zip,.skill"
        aria-label={t('skills.add')}
        className="sr-only"
        tabIndex={-1}
        onChange={({ target }) => {
          const file = target.files?.[0]
          target.value = ''
          if (file !== undefined) add.mutate(file)
        }}
      />
      <Button
        size="small"
        icon={Plus}
        disabled={add.isPending}
        onClick={() => input.current?.click()}
      >
        {t('skills.add')}
      </Button>
    </>
  )
}

/** `off` are the names of the skills that are switched off in this place; without `onOff` they are only shown. */
export function SkillList({
  projectId,
  off,
  onOff,
}: Place & { off: readonly string[]; onOff?: (names: string[]) => void }) {
  const { t } = useTranslation()
  const skills = useSkills(projectId)
  return (
    <>
      {skills.isPending && <Loading />}
      {skills.isError && (
        <Failed message={errorText(skills.error)} onRetry={() => void skills.refetch()} />
      )}
      {skills.data?.length === 0 && <Empty icon={GraduationCap} title={t('skills.none')} />}
      <ul
        aria-label={t('skills.title')}
        ref={moveFocusOnRemoval}
        className="-my-2 divide-y divide-line"
      >
        {keyed(skills.data ?? [], ({ source, name, path }) => `${source} ${path ?? name}`).map(
          ({ key, item: skill }) => (
            <SkillRow
              key={key}
              projectId={projectId}
              skill={skill}
              isOn={!off.includes(skill.name)}
              onSwitch={
                onOff &&
                ((on) =>
                  onOff(on ? off.filter((name) => name !== skill.name) : [...off, skill.name]))
              }
            />
          ),
        )}
      </ul>
    </>
  )
}

function SkillRow({
  projectId,
  skill,
  isOn,
  onSwitch,
}: Place & {
  skill: Skill
  isOn: boolean
  onSwitch: ((on: boolean) => void) | undefined
}) {
  const { t } = useTranslation()
  const remove = useDeleteSkill()
  const [deleting, setDeleting] = useState(false)
  const { name, source, state, error } = skill
  const note = useStateNote(skill, isOn)
  // Where one is deleted from: a skill of the user in the settings, one of a project in the project.
  const isHere =
    onSwitch !== undefined &&
    source === (projectId === null ? 'user' : 'project') &&
    state !== 'hidden'
  return (
    <li className="flex items-center gap-2 py-2.5">
      <div className="min-w-0 flex-1">
        {state === 'invalid' || state === 'hidden' ? (
          <>
            <p className="text-sm font-medium text-soft">{name}</p>
            <p className="text-note wrap-anywhere text-muted">{error ?? t('skills.hidden')}</p>
          </>
        ) : (
          <>
            <Switch
              label={name}
              hint={skillDescription(skill, t)}
              checked={isOn}
              disabled={onSwitch === undefined}
              onChange={(on) => onSwitch?.(on)}
            />
            {note !== null && <p className="mt-1 text-note text-warn">{note}</p>}
          </>
        )}
      </div>
      {isHere && (
        <IconButton
          icon={Trash2}
          size="small"
          label={t('skills.deleteOne', { name })}
          onClick={() => setDeleting(true)}
        />
      )}
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('skills.deleteOne', { name })}
        text={t('skills.deleteText')}
        confirm={t('common.delete')}
        onConfirm={() => remove.mutate({ skill, projectId })}
      />
    </li>
  )
}

/** Why models do not have a skill although it is on here; null if they do. */
function useStateNote({ state }: Skill, isOn: boolean): string | null {
  const { t } = useTranslation()
  if (!isOn) return null
  if (state === 'consent_needed') return t('skills.waits')
  if (state === 'refused') return t('skills.refused')
  return state === 'off' ? t('skills.offEverywhere') : null
}
